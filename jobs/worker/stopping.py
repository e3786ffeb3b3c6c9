"""Stop a worker in haste (Celery's cold or soft stop), in its parent.

A warm stop lets the running jobs end, and needs nothing of this module. A platform may signal all processes of a
worker: that is a warm stop, too, since a process ignores such signals while it runs a job.
"""

from collections.abc import Callable
from typing import Any

from celery import bootsteps

from jobs.worker.children import kills
from jobs.worker.children.kills import Pool
from jobs.worker.light.parent import LetSeatsEnd, wait_for_seats


class EndProcesses(bootsteps.StartStopStep):
    """The step that ends the processes before Celery terminates its pool: Celery would send SIGTERM, and wait."""

    requires = ("celery.worker.components:Pool", LetSeatsEnd)  # which waits for what they had ended by then

    def terminate(self, worker: Any) -> None:
        for pid in Pool(worker.pool).pids():
            kills.stop(pid)


def drain_first(worker: Any, drain: Callable[[], object]) -> None:
    """Let the worker drain before it waits for its jobs at a soft stop: Celery's signal of the stop comes too late.

    Celery waits for its requests alone, and a light worker has none.
    """
    wait = getattr(worker, "wait_for_soft_shutdown", None)
    if wait is None:  # before Celery 5.5
        return

    def drain_and_wait() -> None:
        drain()
        wait_for_seats(worker.app.conf.worker_soft_shutdown_timeout)
        wait()

    worker.wait_for_soft_shutdown = drain_and_wait
