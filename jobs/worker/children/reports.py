"""Reports: record the end of a process in PostgreSQL, and repeat it until it succeeds.

This runs in a thread of its own, since it may wait for the database, a locked row, or the code of a retry policy.
"""

import queue
import threading
import time
import uuid
from dataclasses import dataclass

from django.db import DatabaseError, InterfaceError, connection

from jobs import store, telemetry
from jobs.engine import recover
from jobs.engine.recover import Sentence
from jobs.store import Process
from jobs.worker.threads.watchdog import Progress

AGAIN = 0.5  # seconds before a report that failed is repeated


@dataclass(frozen=True)
class Ended:
    """A process has ended. job_id, attempt: of its message. sentence: the reason if this worker ended it."""

    pid: int  # 0: no process had taken the message
    job_id: int
    attempt: int
    error: str
    sentence: Sentence | None = None


# The consumer's thread puts the reports here, since it must not wait for PostgreSQL; they stay until it has them.
ended: queue.SimpleQueue[Ended] = queue.SimpleQueue()


class Reports:
    """Runs in a thread of the worker's parent process until `stop` is set."""

    def __init__(self, worker: uuid.UUID, stop: threading.Event) -> None:
        self._worker = worker
        self._stop = stop
        self._open: list[Ended] = []

    def run(self, progress: Progress) -> None:
        """Report until stopped. The clock settles the rest when the worker is gone."""
        store.keep_sessions(self._worker, "reports", lock_timeout=1, statement_timeout=10)
        while not self._stop.is_set():
            progress.note()
            self._listen(AGAIN)
            self._open = [one for one in self._open if not self._report(one, progress)]
            connection.close()  # processes die rarely

    def _listen(self, seconds: float) -> None:
        """Collect ended processes until there is a new one, or until it is time to try again."""
        until = time.monotonic() + seconds
        try:
            while True:
                self._open.append(ended.get(timeout=max(until - time.monotonic(), 0)))
                until = 0.0  # take further reports without waiting
        except queue.Empty:
            return

    def _report(self, one: Ended, progress: Progress) -> bool:
        progress.note()  # each may take long: a retry policy may
        try:
            return recover.process_ended(
                Process(self._worker, one.pid), one.job_id, one.attempt, one.error, one.sentence
            )
        except (DatabaseError, InterfaceError) as error:
            telemetry.noticed("report waits", pid=one.pid, error=type(error).__name__)
            connection.close()
            return False
