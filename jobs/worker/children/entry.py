"""An entry of the running table: what one process holds.

A process may be preempted between any two words that it writes, so each entry has a version, which is odd while it is
being written (a sequence lock, as in Linux: Documentation/locking/seqlock.rst). A word is stored whole: it is aligned,
and written by one store.
"""

import math
import time
from dataclasses import dataclass

from jobs.lifecycle import HandBack

WORDS = 9  # of an entry: version, pid, job, attempt, deadline, MiB, silence, heard, and what the parent asks
_VERSION, PID, _JOB, _ATTEMPT, _DEADLINE, _MEMORY, _SILENCE, _HEARD, _ASKED = range(WORDS)
REASONS = (None, *HandBack)  # a word holds the place of a reason
_PLACES = 16  # of reasons, at most


@dataclass(frozen=True)
class Entry:
    """The entry of one process in the table.

    version: grows with each change; while it is odd, the entry is being written, and its other words mean nothing
    pid: the process
    job_id: the job of the attempt that it holds; 0: it holds none
    attempt: the number of that attempt
    deadline: when its user code must end, by time.monotonic(), one clock for all processes; infinite if none runs
    memory: how many MiB it may use; 0: no limit
    silence: for how many seconds its user code may tell nothing; 0: no limit
    heard: when that has told something last, or began, by time.monotonic()
    """

    version: int
    pid: int
    job_id: int
    attempt: int
    deadline: float
    memory: int
    silence: float
    heard: float

    @property
    def is_torn(self) -> bool:
        return self.version % 2 != 0

    @property
    def runs(self) -> bool:
        """Return whether user code runs. If not, the process starts or settles the attempt, or holds none."""
        return self.deadline != math.inf


class OwnEntry:
    """The entry of a process, as it writes it."""

    def __init__(self, words: "memoryview[int]", moments: "memoryview[float]", place: int, pid: int) -> None:
        """Take the entry, and hold no attempt.

        words, moments: the memory of the table, as integers and as floats.
        place: the number of its first word.
        """
        self._words, self._moments, self._place, self._pid = words, moments, place, pid
        self.let_go()

    def hold(self, job_id: int, attempt: int) -> None:
        """Write that this process is about to start the attempt, or has got it; it holds no other."""
        self._write(job_id, attempt, math.inf, 0)

    def let_go(self) -> None:
        """Write that this process holds no attempt any more."""
        self._write(0, 0, math.inf, 0)

    def limit(self, seconds: float, memory: int, silence: float = 0.0) -> None:
        """Limit the user code that this process runs from now on, in the attempt that it holds.

        seconds: until its deadline
        memory: MiB; 0: no limit
        silence: seconds that it may tell nothing; 0: no limit
        """
        self._write(self._own(_JOB), self._own(_ATTEMPT), time.monotonic() + seconds, memory, silence)

    def hear(self, moment: float) -> None:
        """Write that the user code has told something, by time.monotonic(). Any thread may: it is one word."""
        self._moments[self._place + _HEARD] = moment

    def lift_limit(self) -> None:
        """Lift the limits: the user code has ended."""
        self._write(self._own(_JOB), self._own(_ATTEMPT), math.inf, 0)

    def asked_back(self) -> HandBack | None:
        """Return why the parent asks for the slot of the body that runs now; None: it does not."""
        version, reason = divmod(self._own(_ASKED), _PLACES)
        return REASONS[reason] if version == self._own(_VERSION) else None

    def _own(self, word: int) -> int:
        value: int = self._words[self._place + word]
        return value

    def _write(self, job_id: int, attempt: int, deadline: float, memory: int, silence: float = 0.0) -> None:
        odd = self._own(_VERSION) | 1  # odd already if an exception, or a death, has ended the last write half-way
        self._words[self._place + _VERSION] = odd
        self._words[self._place + PID] = self._pid
        self._words[self._place + _JOB] = job_id
        self._words[self._place + _ATTEMPT] = attempt
        self._moments[self._place + _DEADLINE] = deadline
        self._words[self._place + _MEMORY] = memory
        self._moments[self._place + _SILENCE] = silence
        self._moments[self._place + _HEARD] = time.monotonic() if silence else 0.0
        self._words[self._place + _VERSION] = odd + 1


def ask_back(words: "memoryview[int]", place: int, entry: Entry, why: HandBack | None) -> None:
    """Ask the body that this entry names for its slot, or no longer (None), in the parent.

    The only word that the process does not write; it is stored whole, and names the version that it is meant for. So
    it says nothing to the body of another attempt.
    """
    words[place + _ASKED] = entry.version * _PLACES + REASONS.index(why)


def read(words: "memoryview[int]", moments: "memoryview[float]", place: int) -> Entry:
    """Read the entry of a process. It is torn if it changes meanwhile."""
    version = words[place + _VERSION]
    pid, job_id, attempt = words[place + PID], words[place + _JOB], words[place + _ATTEMPT]
    deadline, memory = moments[place + _DEADLINE], words[place + _MEMORY]
    silence, heard = moments[place + _SILENCE], moments[place + _HEARD]
    version |= words[place + _VERSION] != version
    return Entry(version, pid, job_id, attempt, deadline, memory, silence, heard)
