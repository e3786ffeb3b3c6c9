"""The desk of a worker: what each of its processes holds, in memory that the parent and its children share.

Each process has a seat, by its number in the pool. There it notes the attempt that it holds, from before the statement
that starts it until after the one that settles it, and the limits of the stranger's code that it runs meanwhile. The
parent reads the desk to enforce limits, and to compare it with the rows of PostgreSQL (reconcile.py), without messages.

A process may be preempted between any two words that it writes, so each note has a version, which is odd while it is
being written (a sequence lock, as in Linux: Documentation/locking/seqlock.rst). A word is stored whole: it is aligned,
and written by one store.
"""

import math
import mmap
import os
import time
from dataclasses import dataclass

SEATS = 1024  # processes of one worker, at most
_WORD = 8  # bytes
_WORDS = 6  # of a seat: version, pid, job, attempt, deadline, MiB
_VERSION, _PID, _JOB, _ATTEMPT, _DEADLINE, _MEMORY = range(_WORDS)


@dataclass(frozen=True)
class Note:
    """What a seat says.

    version: it grows with each note of the seat; odd: the note is being written, and says nothing else. job_id: 0: the
    process holds no attempt. deadline: of time.monotonic(), which is one clock for all processes of a machine;
    infinite: no stranger's code runs. memory: MiB that it may use; 0: no limit.
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
        """Whether a stranger's code runs. If not, the process starts or settles the attempt, or holds none."""
        return self.deadline != math.inf


class Desk:
    """Created in the parent before its pool forks."""

    def __init__(self, seats: int = SEATS) -> None:
        shared = memoryview(mmap.mmap(-1, (1 + seats * _WORDS) * _WORD))
        self._seats = seats
        self._words = shared.cast("q")  # the first one: whether the worker drains
        self._moments = shared.cast("d")  # the same memory
        self._mine = 1

    # --- in a process of the pool

    def sit_down(self, seat: int) -> None:
        """Take that seat. Raises IndexError if it does not exist."""
        if not 0 <= seat < self._seats:
            raise IndexError(f"a worker has at most {self._seats} processes")
        self._mine = 1 + seat * _WORDS
        self.let_go()

    def hold(self, job_id: int, attempt: int) -> None:
        """Note that this process is about to start the attempt, or has got it; it holds no other."""
        self._write(job_id, attempt, math.inf, 0)

    def let_go(self) -> None:
        """Note that this process holds no attempt any more."""
        self._write(0, 0, math.inf, 0)

    def limit(self, seconds: float, memory: int) -> None:
        """Limit what runs here from now on, in the attempt that is held. memory: MiB; 0: no limit."""
        self._write(self._own(_JOB), self._own(_ATTEMPT), time.monotonic() + seconds, memory)

    def lift(self) -> None:
        """Lift the limits: the stranger's code has ended."""
        self._write(self._own(_JOB), self._own(_ATTEMPT), math.inf, 0)

    def _own(self, word: int) -> int:
        return self._words[self._mine + word]

    def _write(self, job_id: int, attempt: int, deadline: float, memory: int) -> None:
        odd = self._own(_VERSION) | 1  # it is odd already if an exception, or a death, has ended the last note half-way
        self._words[self._mine + _VERSION] = odd
        self._words[self._mine + _PID] = os.getpid()
        self._words[self._mine + _JOB] = job_id
        self._words[self._mine + _ATTEMPT] = attempt
        self._moments[self._mine + _DEADLINE] = deadline
        self._words[self._mine + _MEMORY] = memory
        self._words[self._mine + _VERSION] = odd + 1

    @property
    def drains(self) -> bool:
        """Whether this worker takes no more jobs."""
        return self._words[0] != 0

    # --- in the parent

    def drain(self) -> None:
        """Tell the processes to take no more jobs."""
        self._words[0] = 1

    def notes(self) -> list[Note]:
        """What the seats say that were ever taken."""
        seats = range(1, 1 + self._seats * _WORDS, _WORDS)
        return [self._read(at) for at in seats if self._words[at + _PID]]

    def running(self) -> list[Note]:
        """The attempts of which a stranger's code runs now. A torn note is left out until the next look."""
        return [note for note in self.notes() if note.job_id and note.runs and not note.is_torn]

    def _read(self, at: int) -> Note:
        words = self._words
        version = words[at + _VERSION]
        pid, job_id, attempt = words[at + _PID], words[at + _JOB], words[at + _ATTEMPT]
        deadline, memory = self._moments[at + _DEADLINE], words[at + _MEMORY]
        return Note(version | (words[at + _VERSION] != version), pid, job_id, attempt, deadline, memory)


desk = Desk()  # the parent imports it before it forks, so all processes of a worker share the memory
