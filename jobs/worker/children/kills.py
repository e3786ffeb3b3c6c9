"""End a process of the pool, remember why, and say that it has ended: in the worker's parent."""

import os
import queue
import signal
from contextlib import suppress
from typing import Any

from jobs.engine.recover import Death, Kill

MAX_REMEMBERED = 1024  # the latest kills


class Pool:
    """The processes of a worker. pool: Celery's."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool

    def pids(self) -> list[int]:
        """Those of now; none once the pool was terminated, while our threads still look."""
        processes = self._pool._pool
        return [process.pid for process in processes._pool] if processes else []

    def size(self) -> int:
        """How many it is meant to have; 0 once it was ended."""
        processes = self._pool._pool
        return processes._processes if processes else 0


_kills: dict[int, Kill] = {}  # by pid
_stopped: set[int] = set()  # processes that were ended since their worker stops
# Several threads put deaths here, of which none may wait for PostgreSQL; they stay until it has them (reports.py).
deaths: queue.SimpleQueue[Death] = queue.SimpleQueue()


def kill(why: Kill) -> None:
    """End a process, and remember why first, so that it is known when the process dies."""
    _kills.pop(why.pid, None)
    _kills[why.pid] = why
    if len(_kills) > MAX_REMEMBERED:
        del _kills[next(iter(_kills))]
    end(why.pid)


def kill_of(pid: int) -> Kill | None:
    """The kill of a process that this worker ended; None for other deaths. Celery's thread and ours may both ask.

    It names an attempt, so it does no harm to a later process with the same pid.
    """
    return _kills.get(pid)


def stop(pid: int) -> None:
    """End a process because this worker stops: no attempt that runs in it is to blame."""
    _stopped.add(pid)
    end(pid)


def report(pid: int, job_id: int, attempt: int, error: str) -> None:
    """Report that a process has ended, of which nothing runs any more. The parameters are those of `Death`."""
    deaths.put(Death(pid, job_id, attempt, error, _kills.get(pid), stopped=pid in _stopped))


def end(pid: int) -> None:
    """Kill the process and its group: the subprocesses of a body must not outlive it."""
    with suppress(ProcessLookupError):
        if os.getpgid(pid) != pid:  # it has just been forked, and has no group of its own yet
            os.kill(pid, signal.SIGKILL)
            return
    with suppress(ProcessLookupError):  # its group may outlive it
        os.killpg(pid, signal.SIGKILL)
