"""The desk of a worker: the present attempt of each process, in memory that the parent and its children share.

Each process has a seat, by its number in the pool. There it writes its attempt, the deadline and the memory limit. The
parent reads the desk to enforce limits by process, without messages or queries. When a process dies, PostgreSQL tells
what it was running (`worker`, `worker_pid`), not the desk: a child may die between its commit and its note.
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
class Running:
    """An attempt that a process is running.

    deadline: of time.monotonic(), which is one clock for all processes of a machine. memory: MiB that the process may
    use; 0: no limit.
    """

    pid: int
    job_id: int
    attempt: int
    deadline: float
    memory: int


class Desk:
    """Created in the parent before its pool forks."""

    def __init__(self, seats: int = SEATS) -> None:
        self._places = seats
        self._memory = mmap.mmap(-1, 1 + seats * _RECORD.size)  # the first byte: whether the worker drains
        self._mine = 1

    # --- in a process of the pool

    def sit_down(self, seat: int) -> None:
        """Take that seat. Raises IndexError if it does not exist."""
        if not 0 <= seat < self._places:
            raise IndexError(f"a worker has at most {self._places} processes")
        self._mine = 1 + seat * _RECORD.size
        self.put_down()

    def take_up(self, job_id: int, attempt: int, seconds: float, memory: int) -> None:
        """Note that this process runs the attempt from now on, for at most so many seconds."""
        # Write the deadline last and remove it first: a record with a deadline is complete.
        _RECORD.pack_into(self._memory, self._mine, os.getpid(), job_id, attempt, math.inf, memory)
        _DEADLINE.pack_into(self._memory, self._mine + _DEADLINE_AT, time.monotonic() + seconds)

    def put_down(self) -> None:
        """Lift the limits of this process: the body has ended."""
        _DEADLINE.pack_into(self._memory, self._mine + _DEADLINE_AT, math.inf)
        _RECORD.pack_into(self._memory, self._mine, os.getpid(), 0, 0, math.inf, 0)

    @property
    def drains(self) -> bool:
        """Whether this worker takes no more jobs."""
        return self._memory[0] != 0

    # --- in the parent

    def drain(self) -> None:
        """Tell the processes to take no more jobs."""
        self._memory[0] = 1

    def running(self) -> list[Running]:
        """The attempts that are running now."""
        records = (_RECORD.unpack_from(self._memory, 1 + n * _RECORD.size) for n in range(self._places))
        return [Running(*record) for record in records if record[1]]


desk = Desk()  # the parent imports it before it forks, so all processes of a worker share the memory
