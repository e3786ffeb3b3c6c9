"""Measure the most memory that this process uses during a body.

The kernel keeps the highest resident size of a process, and sets it to the present one on request (Linux, proc(5)).
Both take microseconds. Subprocesses of the body are not included.
"""

import os
import resource

_RESET = b"5"  # written to clear_refs: reset the peak resident size
_KIB_PER_MIB = 1024


class Peak:
    """The peak of this process's memory. A process makes it after the fork."""

    def __init__(self) -> None:
        self._known = False  # whether the kernel's peak dates from the last reset
        self._file = self._identity = None
        try:
            self._file = os.open("/proc/self/clear_refs", os.O_WRONLY | os.O_CLOEXEC)
            self._identity = os.fstat(self._file)[:3]
        except OSError:  # a kernel without it
            pass

    def reset(self) -> None:
        """Reset the peak, as a body begins."""
        self._known = False
        if self._file is None:
            return
        try:
            # An earlier body may have closed the file, and its descriptor may now be another file's.
            if os.fstat(self._file)[:3] == self._identity:
                self._known = os.write(self._file, _RESET) > 0
        except OSError:
            self._file = None

    def read(self) -> int | None:
        """Return the most memory since the last reset, in MiB; None where the kernel does not measure it."""
        if not self._known:
            return None
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // _KIB_PER_MIB
