"""The sender: the only thread of a process that talks to the broker, so that a broker that hangs delays nothing else.

Recover sends the messages that are left when the worker ends.
"""

import threading
from collections.abc import Sequence

from jobs import tasks
from jobs.engine import dispatch
from jobs.processes.watchdog import Progress
from jobs.store import Claimed


class Sender:
    """The carrier for `dispatch.connect`; it does not send a waiting message twice."""

    def __init__(self, carrier: dispatch.HandOver = tasks.hand_over) -> None:
        self._carrier = carrier
        self._waiting: dict[tuple[int, int], Claimed] = {}
        self._changed = threading.Condition()
        self._stopped = False

    def hand_over(self, claimed: Sequence[Claimed]) -> None:
        """Queue these messages."""
        with self._changed:
            self._waiting |= {(job.id, job.attempt): job for job in claimed}
            self._changed.notify()

    def stop(self) -> None:
        """End when all messages are sent."""
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
