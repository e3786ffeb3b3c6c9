"""End processes of the pool, remember why, and report that they have ended: in the worker's parent."""

import os
import queue
import signal
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from jobs.engine.upkeep.recover import Death, Kill

MAX_REMEMBERED = 1024  # the latest kills


class Pool:
    """The processes of a worker."""

    def __init__(self, pool: Any) -> None:
        """Wrap the pool, which is Celery's."""
        self._pool = pool
        self._added = 0

    def pids(self) -> list[int]:
        """Return the present processes; none after the pool was terminated, while our threads still look."""
        processes = self._pool._pool
        return [process.pid for process in processes._pool] if processes else []

    def size(self) -> int:
        """Return how many processes the pool is meant to have, without those that were added; 0 after its end."""
        processes = self._pool._pool
        return processes._processes - self._added if processes else 0

    def grow(self, hub: Any) -> None:
        """Add a process; it starts within a second or some.

        hub: Celery's event loop, whose thread starts processes then; None: a thread of the pool's own does.
        """
        if hub is None:
            self._add()
        else:
            hub.call_soon(self._add_at_once)

    def _add(self) -> None:
        self._added += 1
        self._pool.grow(1)

    def _add_at_once(self) -> None:
        self._add()
        self._pool._pool.maintain_pool()


_kills: dict[tuple[int, int, int], Kill] = {}  # by process, job and attempt: of several in a light one
_stopped: set[int] = set()  # processes that were ended because their worker stops
# Several threads put deaths here, and none of them may wait for PostgreSQL: reports.py repeats each until it has it.
deaths: queue.SimpleQueue[Death] = queue.SimpleQueue()


def kill(why: Kill) -> None:
    """End a process, and remember why first, so that it is known when the process dies."""
    key = (why.pid, why.job_id, why.attempt)
    _kills.pop(key, None)
    _kills[key] = why
    if len(_kills) > MAX_REMEMBERED:
        del _kills[next(iter(_kills))]
    end(why.pid)


def is_killed(pid: int, job_id: int, attempt: int) -> bool:
    """Return whether this worker has ended that process because of that attempt."""
    return (pid, job_id, attempt) in _kills


def kills_of(pid: int) -> tuple[Kill, ...]:
    """Return the kills of a process that this worker ended; () for other deaths. Celery's thread and ours call this.

    A kill names an attempt, so it does no harm to a later process with the same pid.
    """
    return tuple(kill for kill in tuple(_kills.values()) if kill.pid == pid)


def stop(pid: int) -> None:
    """End a process because this worker stops: no attempt that runs in it is to blame."""
    _stopped.add(pid)
    end(pid)


def report(pid: int, job_id: int, attempt: int, error: str, aboard: Sequence[tuple[int, int]] | None = None) -> None:
    """Report that a process has ended, and that nothing of it runs any more. The parameters are those of `Death`."""
    deaths.put(Death(pid, job_id, attempt, error, kills_of(pid), stopped=pid in _stopped, aboard=aboard))


def end(pid: int) -> None:
    """Kill the process and its group: the subprocesses of a body must not outlive it."""
    with suppress(ProcessLookupError):
        if os.getpgid(pid) != pid:  # it has just been forked, and has no group of its own yet
            os.kill(pid, signal.SIGKILL)
            return
    with suppress(ProcessLookupError):  # its group may outlive it
        os.killpg(pid, signal.SIGKILL)
