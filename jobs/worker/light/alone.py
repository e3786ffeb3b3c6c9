"""Settle ends one by one, in threads of their own: PostgreSQL refused the batch, or skipped a row that is locked.

PostgreSQL refuses a batch if it cannot store one of its ends. For that one, its author's code is asked, which may take
its time; and a locked row may stay locked for long.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from django.db import DatabaseError, InterfaceError

from jobs import store, telemetry
from jobs.engine.attempt.body import Outcome
from jobs.engine.attempt.settle import settle
from jobs.engine.process.user_code import in_a_thread
from jobs.worker.light.ends import EndInHand

THREADS = 4  # one row may be locked, or one policy hang


class Alone:
    """Settles ends in the background.

    settled: called when ends may be taken by `done`, from that thread.
    """

    def __init__(self, settled: Callable[[], object]) -> None:
        self._settled = settled
        self._ends: deque[EndInHand] = deque()
        self._done: deque[EndInHand] = deque()

    def settle(self, ends: Sequence[EndInHand]) -> None:
        """Begin to settle these ends."""
        self._ends.extend(ends)
        for _ in range(min(THREADS, len(ends))):
            threading.Thread(target=self._settle_all, name="alone", daemon=True).start()

    def done(self) -> list[EndInHand]:
        """Return the ends that have been settled since the last call."""
        return [self._done.popleft() for _ in range(len(self._done))]

    def _settle_all(self) -> None:
        with store.OwnSession().speaking():
            with suppress(IndexError):
                while True:
                    self._settle_one(self._ends.popleft())
            store.session().close()

    def _settle_one(self, end: EndInHand) -> None:
        try:
            _settle(end)
        except Exception as error:  # its row runs, and no seat holds it: taken back
            telemetry.noticed("outcome was lost", job=end.success.job.id, error=type(error).__name__)
        self._done.append(end)
        self._settled()


def _settle(end: EndInHand) -> None:
    """Settle an end, however long the database is away. Raises other errors."""
    success = end.success
    outcome = Outcome(stats=success.stats, result_ttl=success.result_ttl, result_bytes=success.result_bytes)
    while True:
        try:
            settle(success.job, outcome, in_a_thread)
            return
        except (DatabaseError, InterfaceError) as error:
            if not store.may_pass(error):
                raise
