"""Reports: what became of a process is told to PostgreSQL, and told again until it is true there.

In a thread of its own, since it may have to wait for the database, a locked row, or the code of a retry policy.
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
from jobs.processes.watchdog import Progress
from jobs.store import Process

AGAIN = 0.5  # seconds until what could not be settled is tried again


@dataclass(frozen=True)
class Ended:
    """A process is no more. job_id, attempt: of its message. sentence: why we ended it, if we did."""

    pid: int  # 0: no process had the message yet
    job_id: int
    attempt: int
    error: str
    sentence: Sentence | None = None


# Put by the consumer's thread, which must not wait for PostgreSQL; kept by us until PostgreSQL has it.
ended: queue.SimpleQueue[Ended] = queue.SimpleQueue()


class Reports:
    """Runs in a thread of the worker's parent process until `stop` is set."""

    def __init__(self, worker: uuid.UUID, stop: threading.Event) -> None:
        self._worker = worker
        self._stop = stop
        self._open: list[Ended] = []

    def run(self, progress: Progress) -> None:
        """Report until stopped; what is not settled then, the clock finds with the worker gone."""
        store.keep_sessions(self._worker, "reports", lock_timeout=1, statement_timeout=10)
        while not self._stop.is_set():
            progress.note()
            self._listen(AGAIN)
            self._open = [one for one in self._open if not self._report(one)]
            connection.close()  # processes die rarely

    def _listen(self, seconds: float) -> None:
        """What has ended, once there is something new or it is time to try again."""
        until = time.monotonic() + seconds
        try:
            while True:
                self._open.append(ended.get(timeout=max(until - time.monotonic(), 0)))
                until = 0.0  # and what has come with it
        except queue.Empty:
            return

    def _report(self, one: Ended) -> bool:
        try:
            return recover.process_ended(
                Process(self._worker, one.pid), one.job_id, one.attempt, one.error, one.sentence
            )
        except (DatabaseError, InterfaceError) as error:
            telemetry.noticed("report waits", pid=one.pid, error=type(error).__name__)
            connection.close()
            return False
