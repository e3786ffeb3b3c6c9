"""What a trip could not do is done one by one, in threads of their own: a locked row may stay locked for long.

Ends are settled here if PostgreSQL refused their batch, since it cannot store one of them; then its author's code is
asked, which may take its time. And attempts are looked after that did not start.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from django.db import DatabaseError, InterfaceError

from jobs import store, telemetry
from jobs.authoring.units import Units
from jobs.engine.attempt.outcome import Outcome
from jobs.engine.attempt.settle import settle
from jobs.engine.process.patience import patiently
from jobs.engine.process.user_code import in_a_thread
from jobs.worker.light.ends import EndInHand
from jobs.worker.light.processes import Key, RemoteProcess

THREADS = 4  # one row may be locked, or one policy hang


class Alone:
    """Does errands in the background.

    done: called when one is done, from that thread.
    in_hand: the attempts whose ends are being settled, and their processes.
    """

    def __init__(self, done: Callable[[], object]) -> None:
        self._wake = done
        self.in_hand: dict[Key, RemoteProcess] = {}
        self._errands: deque[Callable[[], None]] = deque()
        self._done: deque[Key] = deque()
        self._freed = threading.Event()
        self._suspects: deque[Key] = deque()

    def settle(self, ends: Sequence[EndInHand]) -> None:
        """Begin to settle these ends; their seats are free."""
        for end in ends:
            end.process.held.pop(end.key, None)
            self.in_hand[end.key] = end.process
        self._begin([partial(self._settle_one, end) for end in ends])

    def look_after(self, keys: Sequence[Key]) -> None:
        """Begin to put off or turn away these attempts, which did not start; or they are suspects."""
        self._begin([partial(self._look_after_one, key) for key in keys])

    def put_off(self, suspects: Sequence[Key]) -> None:
        """Begin to put off these suspects."""
        self._begin([partial(self._put_off_one, key) for key in suspects])

    def has_freed(self) -> bool:
        """Return whether slots are free since the last call: an end was settled, an attempt put off or turned away."""
        if freed := self._freed.is_set():
            self._freed.clear()
        for _ in range(len(self._done)):
            self.in_hand.pop(self._done.popleft(), None)
        return freed

    def suspects(self) -> list[Key]:
        """Return the suspects that were found since the last call."""
        return [self._suspects.popleft() for _ in range(len(self._suspects))]

    def _begin(self, errands: Sequence[Callable[[], None]]) -> None:
        self._errands.extend(errands)
        for _ in range(min(THREADS, len(errands))):
            threading.Thread(target=self._do_all, name="alone", daemon=True).start()

    def _do_all(self) -> None:
        with store.OwnSession().speaking():
            with suppress(IndexError):
                while True:
                    self._errands.popleft()()
                    self._wake()
            store.session().close()

    def _settle_one(self, end: EndInHand) -> None:
        try:
            _settle(end)
        except Exception as error:  # its row runs, and no seat holds it: taken back
            telemetry.noticed("outcome was lost", job=end.success.job.id, error=type(error).__name__)
        self._done.append(end.key)
        self._freed.set()

    def _look_after_one(self, key: Key) -> None:
        try:
            is_freed = patiently(lambda: store.put_off(*key) or store.turn_away(*key))
            is_suspect = not is_freed and patiently(lambda: store.is_suspect(*key))
        except (DatabaseError, InterfaceError) as error:  # it counts as a lost message
            telemetry.noticed("attempt not looked after", job=key[0], attempt=key[1], error=type(error).__name__)
            return
        if is_freed:
            self._freed.set()
        elif is_suspect:
            self._suspects.append(key)
        else:
            telemetry.ignored("start", *key, "not the present attempt, or another installation uses this broker")

    def _put_off_one(self, key: Key) -> None:
        with suppress(DatabaseError, InterfaceError):  # it counts as a lost message
            if patiently(lambda: store.put_off(*key, suspect=True)):
                self._freed.set()
                store.wake_clock()


def _settle(end: EndInHand) -> None:
    """Settle an end, however long the database is away. Raises other errors."""
    success = end.success
    outcome = Outcome(stats=success.stats, units=Units(success.units))
    outcome.result_ttl, outcome.result_bytes = success.result_ttl, success.result_bytes
    while True:
        try:
            settle(success.job, outcome, in_a_thread)
            return
        except (DatabaseError, InterfaceError) as error:
            if not store.may_pass(error):
                raise
