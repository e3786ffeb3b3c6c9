"""The running table of a worker: what each process holds, in memory that the parent and its children share.

Each process of an ordinary pool has an entry, by its number in the pool. There it writes the attempt that it holds,
from before the statement that starts it until after the one that settles it, and the limits of the user code that runs
meanwhile. The parent reads the table to enforce limits, and to compare it with PostgreSQL's rows (reconcile.py).
"""

import mmap
from collections.abc import Mapping

from jobs.lifecycle import HandBack
from jobs.worker.children.entry import PID, WORDS, Entry, OwnEntry, ask_back, read

MAX_PROCESSES = 1024  # of one worker
_WORD = 8  # bytes
_HEADER = 2  # words before the entries: whether the worker drains, and whether the broker is out of its reach


class RunningTable:
    """The running table. The parent creates it before its pool forks.

    processes: the most processes of the pool.
    """

    def __init__(self, processes: int = MAX_PROCESSES) -> None:
        self._processes = processes
        shared = memoryview(mmap.mmap(-1, (_HEADER + processes * WORDS) * _WORD))
        self._words = shared.cast("q")
        self._moments = shared.cast("d")  # the same memory

    # --- in a process of the pool

    def take_entry(self, index: int, pid: int) -> OwnEntry:
        """Take the entry of this process. Raises IndexError if it does not exist.

        index: the number of this process in the pool.
        """
        if not 0 <= index < self._processes:
            raise IndexError(f"a worker has at most {self._processes} processes")
        place = _HEADER + index * WORDS
        return OwnEntry(self._words, self._moments, place, pid)

    @property
    def drains(self) -> bool:
        """Return whether this worker takes no more jobs."""
        return self._words[0] != 0

    def is_cut_off(self) -> bool:
        """Return whether the broker does not answer this worker."""
        return self._words[1] != 0

    # --- in the parent

    def drain(self) -> None:
        """Tell the processes to take no more jobs."""
        self._words[0] = 1

    def note_reach(self, *, cut_off: bool) -> None:
        """Tell the processes whether the broker answers."""
        self._words[1] = cut_off

    def holding(self) -> int:
        """Return how many processes hold an attempt."""
        return sum(entry.job_id > 0 for entry in self.entries())

    def entries(self) -> list[Entry]:
        """Return the entries that processes have ever taken."""
        places = range(_HEADER, _HEADER + self._processes * WORDS, WORDS)
        return [read(self._words, self._moments, place) for place in places if self._words[place + PID]]

    def ask_back(self, wanted: Mapping[tuple[int, int, int], HandBack]) -> None:
        """Ask for the slots of these attempts, each by its process, job and number, and for no others any more."""
        for place in range(_HEADER, _HEADER + self._processes * WORDS, WORDS):
            entry = read(self._words, self._moments, place)
            if entry.job_id and entry.runs and not entry.is_torn:
                ask_back(self._words, place, entry, wanted.get((entry.pid, entry.job_id, entry.attempt)))

    def running(self) -> list[Entry]:
        """Return the entries whose user code runs now. A torn entry is left out until the next look."""
        return [entry for entry in self.entries() if entry.job_id and entry.runs and not entry.is_torn]


running_table = RunningTable()  # the parent imports it before it forks, so all processes of a worker share the memory
