"""Cancels: end a body that was asked to stop and still runs after JOBS_CANCEL_GRACE seconds.

Its own worker does it. The row names worker and process, so this needs no broker, and works in a draining worker.
"""

import threading
import uuid
from collections.abc import Callable, Collection

from django.db import DatabaseError, InterfaceError, connection

from jobs import store, telemetry
from jobs.conf import settings
from jobs.engine.recover import Sentence
from jobs.processes.children import condemn
from jobs.processes.desk import Desk
from jobs.processes.watchdog import Progress
from jobs.store import Failure

LOOK_EVERY = 1.0  # seconds


class Cancels:
    """Runs in a thread of the parent until `stop` is set. children: the pids of the pool, now."""

    def __init__(
        self, worker: uuid.UUID, desk: Desk, stop: threading.Event, children: Callable[[], Collection[int]]
    ) -> None:
        self._worker = worker
        self._desk = desk
        self._stop = stop
        self._children = children

    def run(self, progress: Progress) -> None:
        """Enforce stops until the worker stops."""
        store.keep_sessions(self._worker, "cancels", lock_timeout=1, statement_timeout=5)
        while not self._stop.wait(LOOK_EVERY):
            progress.note()
            try:
                self.look()
            except (DatabaseError, InterfaceError) as error:
                telemetry.noticed("cancels without database", error=type(error).__name__)
                connection.close()

    def look(self) -> None:
        """End the attempts that should have stopped by now."""
        overdue = store.overdue_cancels(settings.JOBS_CANCEL_GRACE, self._worker)
        if not overdue:
            return
        # Only if its process still runs this attempt: it may have settled it and started another job.
        running = {(one.pid, one.job_id, one.attempt) for one in self._desk.running()}
        alive = set(self._children())
        for job in overdue:
            if job.pid in alive and (job.pid, job.id, job.attempt) in running:
                of = {"job": job.id, "attempt": job.attempt, "tenant": job.tenant_id}
                telemetry.noticed("cancel enforced", **of, pid=job.pid)
                error = f"did not stop within {settings.JOBS_CANCEL_GRACE:g} s and was killed"
                condemn(job.pid, Sentence(job.id, job.attempt, Failure("Cancelled", error)))
