"""Measure the most memory that this process uses during a body.

The kernel keeps the highest resident size of a process, and sets it to the present one on request (Linux, proc(5)).
Both take microseconds. Subprocesses of the body are not included.
"""

import os
import resource

_RESET = b"5"  # written to clear_refs: reset the peak resident size
_KIB_PER_MIB = 1024


class Peak:
    """Of the process that makes it: made after the fork."""

    def __init__(self) -> None:
        self._known = False  # whether the peak is one since the last reset
        self._file = self._identity = None
        try:
            self._file = os.open("/proc/self/clear_refs", os.O_WRONLY | os.O_CLOEXEC)
            self._identity = os.fstat(self._file)[:3]
        except OSError:  # a kernel without it
            pass

    def reset(self) -> None:
        """A body begins."""
        self._known = False
        if self._file is None:
            return
        try:
            # An earlier body may have closed it, and its number may now be that of another file.
            if os.fstat(self._file)[:3] == self._identity:
                self._known = os.write(self._file, _RESET) > 0
        except OSError:
            self._file = None

    def read(self) -> int | None:
        """The most memory since the last reset in MiB; None where that cannot be measured."""
        if not self._known:
            return None
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // _KIB_PER_MIB
