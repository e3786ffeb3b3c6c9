"""How a worker stops in haste (a cold or a soft stop of Celery's): in its parent.

A warm stop lets the running jobs end, and needs nothing of this. The processes ignore what signals ask of them while
they run a job, so it is a warm stop, too, if a platform signals all processes of a worker.
"""

from collections.abc import Callable
from typing import Any

from celery import bootsteps

from jobs.worker.children import kills
from jobs.worker.children.kills import Pool


class EndProcesses(bootsteps.StartStopStep):
    """Runs before Celery terminates its pool, which asks the processes by SIGTERM, and waits for them."""

    requires = ("celery.worker.components:Pool",)

    def terminate(self, worker: Any) -> None:
        for pid in Pool(worker.pool).pids():
            kills.stop(pid)


def drain_first(worker: Any, drain: Callable[[], object]) -> None:
    """Let the worker drain before it waits for its jobs at a soft stop: Celery says only afterwards that it stops."""
    wait = getattr(worker, "wait_for_soft_shutdown", None)
    if wait is None:  # before Celery 5.5
        return

    def drain_and_wait() -> None:
        drain()
        wait()

    worker.wait_for_soft_shutdown = drain_and_wait
