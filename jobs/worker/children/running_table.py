"""The running table of a worker: what each of its processes holds, in memory that the parent and its children share.

Each process has an entry, by its number in the pool. There it writes the attempt that it holds, from before the
statement that starts it until after the one that settles it, and the limits of the user code that it runs meanwhile.
The parent reads the table to enforce limits, and to compare it with PostgreSQL's rows (reconcile.py).

A process may be preempted between any two words that it writes, so each entry has a version, which is odd while it is
being written (a sequence lock, as in Linux: Documentation/locking/seqlock.rst). A word is stored whole: it is aligned,
and written by one store.
"""

import math
import mmap
import os
import time
from dataclasses import dataclass

MAX_PROCESSES = 1024  # of one worker
_WORD = 8  # bytes
_HEADER = 2  # words before the entries: whether the worker drains, and whether the broker is out of its reach
_WORDS = 6  # of an entry: version, pid, job, attempt, deadline, MiB
_VERSION, _PID, _JOB, _ATTEMPT, _DEADLINE, _MEMORY = range(_WORDS)


@dataclass(frozen=True)
class Entry:
    """The entry of one process in the table.

    version: grows with each change; while it is odd, the entry is being written, and its other words mean nothing
    pid: the process
    job_id: the job of the attempt that it holds; 0: it holds none
    attempt: the number of that attempt
    deadline: when its user code must end, by time.monotonic(), one clock for all processes; infinite if none runs
    memory: how many MiB it may use; 0: no limit
    """

    version: int
    pid: int
    job_id: int
    attempt: int
    deadline: float
    memory: int

    @property
    def is_torn(self) -> bool:
        return self.version % 2 != 0

    @property
    def runs(self) -> bool:
        """Return whether user code runs. If not, the process starts or settles the attempt, or holds none."""
        return self.deadline != math.inf


class RunningTable:
    """The running table. The parent creates it before its pool forks."""

    def __init__(self, size: int = MAX_PROCESSES) -> None:
        shared = memoryview(mmap.mmap(-1, (_HEADER + size * _WORDS) * _WORD))
        self._size = size
        self._words = shared.cast("q")
        self._moments = shared.cast("d")  # the same memory
        self._mine = _HEADER

    # --- in a process of the pool

    def take_entry(self, index: int) -> None:
        """Let this process write into the entry `index` from now on. Raises IndexError if it does not exist."""
        if not 0 <= index < self._size:
            raise IndexError(f"a worker has at most {self._size} processes")
        self._mine = _HEADER + index * _WORDS
        self.let_go()

    def hold(self, job_id: int, attempt: int) -> None:
        """Write that this process is about to start the attempt, or has got it; it holds no other."""
        self._write(job_id, attempt, math.inf, 0)

    def let_go(self) -> None:
        """Write that this process holds no attempt any more."""
        self._write(0, 0, math.inf, 0)

    def limit(self, seconds: float, memory: int) -> None:
        """Limit the user code that this process runs from now on, in the attempt that it holds.

        seconds: until its deadline
        memory: MiB; 0: no limit
        """
        self._write(self._own(_JOB), self._own(_ATTEMPT), time.monotonic() + seconds, memory)

    def lift_limit(self) -> None:
        """Lift the limits: the user code has ended."""
        self._write(self._own(_JOB), self._own(_ATTEMPT), math.inf, 0)

    def _own(self, word: int) -> int:
        return self._words[self._mine + word]

    def _write(self, job_id: int, attempt: int, deadline: float, memory: int) -> None:
        odd = self._own(_VERSION) | 1  # odd already if an exception, or a death, has ended the last write half-way
        self._words[self._mine + _VERSION] = odd
        self._words[self._mine + _PID] = os.getpid()
        self._words[self._mine + _JOB] = job_id
        self._words[self._mine + _ATTEMPT] = attempt
        self._moments[self._mine + _DEADLINE] = deadline
        self._words[self._mine + _MEMORY] = memory
        self._words[self._mine + _VERSION] = odd + 1

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
        places = range(_HEADER, _HEADER + self._size * _WORDS, _WORDS)
        return [self._read(place) for place in places if self._words[place + _PID]]

    def running(self) -> list[Entry]:
        """Return the entries whose user code runs now. A torn entry is left out until the next look."""
        return [entry for entry in self.entries() if entry.job_id and entry.runs and not entry.is_torn]

    def _read(self, place: int) -> Entry:
        words = self._words
        version = words[place + _VERSION]
        pid, job_id, attempt = words[place + _PID], words[place + _JOB], words[place + _ATTEMPT]
        deadline, memory = self._moments[place + _DEADLINE], words[place + _MEMORY]
        return Entry(version | (words[place + _VERSION] != version), pid, job_id, attempt, deadline, memory)


running_table = RunningTable()  # the parent imports it before it forks, so all processes of a worker share the memory
