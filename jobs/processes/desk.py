"""The desk of a worker: what each of its processes is running now, in memory that the parent and its children share.

A process has a seat, by its number in the pool, and writes there which attempt it has taken up, until when that may
run, and how much memory it may use. The parent reads it: limits are enforced by process, whatever message brought the
job, and without asking anybody. Who ran what when a process died is PostgreSQL's to say (`worker`, `worker_pid`), not
the desk's: a child may die between its commit and its note.
"""

import math
import mmap
import os
import struct
import time
from dataclasses import dataclass

SEATS = 1024  # processes of one worker, at most
_RECORD = struct.Struct("=qqqdq")  # pid, job, attempt, deadline, MiB
_DEADLINE = struct.Struct("=d")
_DEADLINE_AT = struct.calcsize("=qqq")


@dataclass(frozen=True)
class Lying:
    """An attempt that a process is running.

    deadline: by time.monotonic(), which is one clock for all processes of a machine. memory: MiB that the process may
    use, 0 for any.
    """

    pid: int
    job_id: int
    attempt: int
    deadline: float
    memory: int


class Desk:
    """Made in the parent, before its pool forks."""

    def __init__(self, seats: int = SEATS) -> None:
        self._places = seats
        self._memory = mmap.mmap(-1, 1 + seats * _RECORD.size)  # the first byte: whether the worker drains
        self._mine = 1

    # --- in a process of the pool

    def sit_down(self, seat: int) -> None:
        """This process has that seat. Raises IndexError if there are not so many."""
        if not 0 <= seat < self._places:
            raise IndexError(f"a worker has at most {self._places} processes")
        self._mine = 1 + seat * _RECORD.size
        self.put_down()

    def take_up(self, job_id: int, attempt: int, seconds: float, memory: int) -> None:
        """From now on this process runs the attempt, for at most so many seconds."""
        # The deadline is written last, and taken away first: a record that has one is whole.
        _RECORD.pack_into(self._memory, self._mine, os.getpid(), job_id, attempt, math.inf, memory)
        _DEADLINE.pack_into(self._memory, self._mine + _DEADLINE_AT, time.monotonic() + seconds)

    def put_down(self) -> None:
        """The body has ended: no limit is on this process any more."""
        _DEADLINE.pack_into(self._memory, self._mine + _DEADLINE_AT, math.inf)
        _RECORD.pack_into(self._memory, self._mine, os.getpid(), 0, 0, math.inf, 0)

    @property
    def drains(self) -> bool:
        """Whether this worker takes nothing more."""
        return self._memory[0] != 0

    # --- in the parent

    def drain(self) -> None:
        """Tell the processes to take nothing more than what they have."""
        self._memory[0] = 1

    def lying(self) -> list[Lying]:
        """What is being run now."""
        records = (_RECORD.unpack_from(self._memory, 1 + n * _RECORD.size) for n in range(self._places))
        return [Lying(*record) for record in records if record[1]]


desk = Desk()  # imported by the parent before it forks, so the same memory for all processes of a worker
