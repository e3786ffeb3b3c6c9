"""The sender: the one thread of a process that talks to the broker. One that stands still holds up nothing else.

What it has not sent when the worker ends is sent again by recover.
"""

import threading
from collections.abc import Sequence

from jobs import tasks
from jobs.engine import dispatch
from jobs.processes.watchdog import Progress
from jobs.store import Claimed


class Sender:
    """Given to `dispatch.connect`; a message that waits already is not sent twice."""

    def __init__(self, carrier: dispatch.HandOver = tasks.hand_over) -> None:
        self._carrier = carrier
        self._waiting: dict[tuple[int, int], Claimed] = {}
        self._changed = threading.Condition()
        self._stopped = False

    def hand_over(self, claimed: Sequence[Claimed]) -> None:
        """Send these soon."""
        with self._changed:
            self._waiting |= {(job.id, job.attempt): job for job in claimed}
            self._changed.notify()

    def stop(self) -> None:
        """End when everything is sent."""
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def run(self, progress: Progress) -> None:
        """Send until stopped."""
        while claimed := self._next():
            progress.note()
            self._carrier(claimed)

    def _next(self) -> list[Claimed]:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._stopped)
            claimed = list(self._waiting.values())
            self._waiting.clear()
            return claimed
