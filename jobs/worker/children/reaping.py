"""Replace a process of the pool as soon as it has ended.

Celery looks for ended processes when one of them has closed its files. The kernel closes those a moment before the
process has ended: on a busy machine Celery looked too early, and next after five seconds. Until then the dead one
counted as idle, and was given a message.
"""

from collections import deque
from typing import Any

from celery import bootsteps
from celery.worker.consumer.tasks import Tasks

FIRST_PAUSE, LAST_PAUSE = 0.02, 2.0  # seconds until it looks again, each time twice as long; then Celery's look comes

_reaped: deque[tuple[int, int]] = deque(maxlen=64)  # pids and exit statuses: the kernel has forgotten these


class ReapAtOnce(bootsteps.StartStopStep):
    """Runs before Celery listens to its processes."""

    requires = (Tasks,)

    def start(self, consumer: Any) -> None:
        pool = consumer.pool._pool
        if "_event_process_exit" not in vars(pool):  # the consumer may start again
            pool._event_process_exit = reaping(pool, pool._event_process_exit)


def reaping(pool: Any, celerys_own: Any) -> Any:
    """Return the handler for a process that has closed its files: it looks until that has ended, and notes how."""

    def closed(hub: Any, process: Any) -> None:
        celerys_own(hub, process)
        look_again(hub, process, FIRST_PAUSE)

    def look_again(hub: Any, process: Any, seconds: float) -> None:
        if process not in pool._pool:
            _reaped.append((process.pid, process.exitcode))
        elif seconds < LAST_PAUSE:
            hub.call_later(seconds, look, hub, process, seconds)

    def look(hub: Any, process: Any, seconds: float) -> None:
        if process in pool._pool:
            pool.maintain_pool()
        look_again(hub, process, 2 * seconds)

    return closed


def status_of(pid: int) -> int | None:
    """Return the exit status of a process that was reaped lately, or the negative number of its signal."""
    return next((status for reaped, status in reversed(_reaped) if reaped == pid), None)
