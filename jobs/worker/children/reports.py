"""Reports: record the death of a process in PostgreSQL, and repeat it until it succeeds.

This runs in a thread of its own, since it may wait for the database, a locked row, or the code of a retry policy.
"""

import queue
import threading
import time
import uuid

from django.db import DatabaseError, InterfaceError, connection

from jobs import store, telemetry
from jobs.engine.upkeep import recover
from jobs.engine.upkeep.recover import Death
from jobs.worker.children.kills import deaths
from jobs.worker.threads.watchdog import Progress

RETRY_SECONDS = 0.5  # before a report that failed is repeated


class Reports:
    """Runs in a thread of the worker's parent process until `stop` is set."""

    def __init__(self, worker: uuid.UUID, stop: threading.Event) -> None:
        self._worker = worker
        self._stop = stop

    def run(self, progress: Progress) -> None:
        """Report until stopped."""
        store.keep_sessions(self._worker, "reports", lock_timeout=1, statement_timeout=10)
        unreported: list[Death] = []
        while not self._stop.is_set():
            progress.note()
            unreported += _next_deaths(RETRY_SECONDS)
            again = []
            for death in unreported:
                progress.note()  # each may take long: a retry policy may
                if not self.report(death):
                    again.append(death)
            unreported = again
            connection.close()  # processes die rarely
        for death in unreported + _next_deaths(0):  # those of a stop in haste; the clock settles the rest
            self.report(death)

    def report(self, death: Death) -> bool:
        """Report once. Return False if that has to be repeated."""
        try:
            return recover.process_ended(self._worker, death)
        except (DatabaseError, InterfaceError) as error:
            telemetry.noticed("report waits", pid=death.pid, error=type(error).__name__)
            connection.close()
            return False


def _next_deaths(seconds: float) -> list[Death]:
    """Wait for a death for at most that many seconds; return all that are there then."""
    arrived: list[Death] = []
    until = time.monotonic() + seconds
    try:
        while True:
            arrived.append(deaths.get(timeout=max(until - time.monotonic(), 0)))
            until = 0.0  # take further ones without waiting
    except queue.Empty:
        return arrived
