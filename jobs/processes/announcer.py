"""The announcer: receivers of `job_died` run in a thread of their own: they are strangers' code, and may take long."""

import queue

from django.db import connection

from jobs.deaths import announce
from jobs.processes.watchdog import Progress


class Announcer:
    """Given to `announce.announce_by`."""

    def __init__(self) -> None:
        self._deaths: queue.SimpleQueue[tuple[int, int] | None] = queue.SimpleQueue()

    def announce(self, job_id: int, attempt: int) -> None:
        """Tell the receivers soon."""
        self._deaths.put((job_id, attempt))

    def stop(self) -> None:
        """End when everything is told."""
        self._deaths.put(None)

    def run(self, progress: Progress) -> None:
        """Tell until stopped."""
        while death := self._deaths.get():
            progress.note()
            announce.tell(*death)
            connection.close()  # a receiver may have used it, and jobs die rarely
