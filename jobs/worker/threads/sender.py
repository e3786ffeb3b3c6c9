"""The sender: the only thread of a process that sends to the broker, so that a broker that hangs delays nothing else.

A broker may also never answer: RabbitMQ does that while a quorum queue has no majority. Then this thread would wait for
ever, so another one goes on with a connection of its own. Recover sends the messages that were lost, and those that
are left when the worker ends.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from time import monotonic

from django.db import connection

from jobs import telemetry
from jobs.store import Claimed, OwnSession
from jobs.worker import message
from jobs.worker.threads.watchdog import Progress

MAX_SEND_SECONDS = 30.0  # how long a thread may send before another goes on
MAX_LEFT_THREADS = 3  # how many threads may be left waiting for an answer, if a broker is out of reach for hours


class Sender:
    """The carrier of a runtime; it does not send a waiting message twice.

    carrier: sends the messages
    session: records which messages could not be sent; None: Django's session of its thread
    """

    def __init__(
        self,
        carrier: Callable[[Sequence[Claimed]], object] = message.hand_over,
        session: OwnSession | None = None,
    ) -> None:
        self._carrier = carrier
        self._speaking = session.speaking if session else nullcontext
        self._waiting: dict[tuple[int, int], Claimed] = {}
        self._changed = threading.Condition()
        self._stopped = False
        self._turn = 0  # the number of the thread that sends; the threads before it were left waiting
        self._left = 0
        self._sends_since: float | None = None

    def hand_over(self, claimed: Sequence[Claimed], *, away: bool = False) -> None:
        """Queue these messages.

        away: the broker is out of reach; then the leader gets them, and all that are queued here
        """
        unsent: list[Claimed] = []
        with self._changed:
            self._waiting |= {(job.id, job.attempt): job for job in claimed}
            if away:
                unsent = list(self._waiting.values())
                self._waiting.clear()
            self._leave_one_that_waits()
            self._changed.notify_all()
        if unsent:
            message.leave_to_leader(unsent)

    def stop(self) -> None:
        """End when all messages are sent."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def run(self, progress: Progress) -> None:
        """Send until stopped. `progress` is not used: the broker may take as long as it likes."""
        self._send(0)
        with self._changed:  # another thread sends now
            self._changed.wait_for(lambda: self._stopped)

    def _leave_one_that_waits(self) -> None:
        since = self._sends_since
        if since is None or monotonic() - since < MAX_SEND_SECONDS or self._left == MAX_LEFT_THREADS or self._stopped:
            return
        telemetry.noticed("broker does not answer", seconds=round(MAX_SEND_SECONDS))
        self._turn += 1
        self._left += 1
        self._sends_since = None
        threading.Thread(target=self._send, args=[self._turn], name="sender", daemon=True).start()

    def _send(self, turn: int) -> None:
        while claimed := self._next(turn):
            with self._speaking():
                self._carrier(claimed)
            connection.close()  # rarely open: only after messages were left to the leader

    def _next(self, turn: int) -> list[Claimed]:
        """Return the messages to send; none if the sender is stopped, or if another thread has the turn by now."""
        with self._changed:
            if turn != self._turn:
                self._left -= 1
                return []
            self._sends_since = None
            self._changed.wait_for(lambda: self._waiting or self._stopped)
            claimed = list(self._waiting.values())
            self._waiting.clear()
            self._sends_since = monotonic()
            return claimed
