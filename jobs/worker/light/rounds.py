"""The last round of the event loop of each process: words that the processes and their parent share."""

import mmap
import time

_WORD = 8  # bytes


class Rounds:
    """The words, one for each process of the pool. The parent makes them before its pool forks."""

    def __init__(self, processes: int) -> None:
        self._moments = memoryview(mmap.mmap(-1, processes * _WORD)).cast("d")

    def note(self, index: int) -> None:
        """Note that the loop of this process goes round. A word is stored whole: it is aligned."""
        self._moments[index] = time.monotonic()

    def last(self, index: int) -> float:
        """Return when the loop of that process went round last, by time.monotonic()."""
        return self._moments[index]
