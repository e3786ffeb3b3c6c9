"""The announcer: run the receivers of `job_died` in a thread of its own, since user code may be slow."""

import queue

from django.db import connection

from jobs import telemetry
from jobs.engine.deaths import announce
from jobs.worker.threads.watchdog import Progress


class Announcer:
    """The thread that announces deaths."""

    def __init__(self) -> None:
        self._deaths: queue.SimpleQueue[tuple[int, int] | None] = queue.SimpleQueue()

    def announce(self, job_id: int, attempt: int) -> None:
        self._deaths.put((job_id, attempt))

    def stop(self) -> None:
        """End when all announcements are sent."""
        self._deaths.put(None)

    def run(self, progress: Progress) -> None:
        """Send announcements until stopped."""
        while death := self._deaths.get():
            progress.note()
            try:
                announce.tell(*death)
            except BaseException as error:  # SystemExit or the like, which Django does not catch: this thread goes on
                telemetry.noticed("death not announced", job=death[0], error=type(error).__name__)
            connection.close()  # a receiver may have opened it, and jobs die rarely
