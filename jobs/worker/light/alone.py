"""Settle ends one by one, in a thread of its own: PostgreSQL refused the batch, because it cannot store one of them.

For that one, its author's code is asked, which may take its time.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence

from django.db import DatabaseError, InterfaceError

from jobs import store, telemetry
from jobs.engine.attempt.body import Outcome
from jobs.engine.attempt.settle import settle
from jobs.engine.process.user_code import in_a_thread
from jobs.worker.light.ends import End


class Alone:
    """Settles ends in the background.

    settled: called when ends may be taken by `done`, from that thread.
    """

    def __init__(self, settled: Callable[[], object]) -> None:
        self._settled = settled
        self._done: deque[End] = deque()

    def settle(self, ends: Sequence[End]) -> None:
        """Begin to settle these ends."""
        threading.Thread(target=self._settle, args=[ends], name="alone", daemon=True).start()

    def done(self) -> list[End]:
        """Return the ends that have been settled since the last call."""
        return [self._done.popleft() for _ in range(len(self._done))]

    def _settle(self, ends: Sequence[End]) -> None:
        with store.OwnSession().speaking():
            for end in ends:
                success = end.success
                outcome = Outcome(stats=success.stats, result_ttl=success.result_ttl, result_bytes=success.result_bytes)
                try:
                    settle(success.job, outcome, in_a_thread)
                except (DatabaseError, InterfaceError) as error:  # its row runs, and no seat holds it: taken back
                    telemetry.noticed("outcome was lost", job=success.job.id, error=type(error).__name__)
                self._done.append(end)
                self._settled()
            store.session().close()
