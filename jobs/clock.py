"""The clock: promotes what is due at its moment, dispatches as a net, and sees to the periodic duties.

Every worker carries one; `manage.py clock` runs it alone. An advisory lock makes one of them the leader. It is a
session lock, so it needs a direct connection or a pooler in session mode.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from jobs import store, telemetry
from jobs.engine import cancel, check, expire, notify, pause, recount, recover
from jobs.engine.dispatch import dispatch
from jobs.engine.promote import promote

SHORTEST_SLEEP = 0.1  # seconds after a tick for which something was due, but could not be promoted: it is locked
LONGEST_SLEEP = 1.0  # seconds; also how soon another clock takes over, and how soon a stop is heard
SILENT = 5.0  # seconds without a word, after which a leader is taken for one that was stopped


@dataclass
class Duty:
    """Something to do every so many seconds."""

    every: float
    run: Callable[[], object]
    next_at: float = 0.0

    def run_if_due(self) -> None:
        if time.monotonic() >= self.next_at:
            self.run()
            self.next_at = time.monotonic() + self.every


def duties() -> list[Duty]:
    """What the leader does besides promoting and dispatching."""
    return [
        Duty(1.0, recover.take_back_orphans),
        Duty(1.0, recover.hand_over_again),
        Duty(1.0, cancel.enforce),
        Duty(5.0, pause.release_strays),
        Duty(10.0, recount.recount_waiting),
        Duty(60.0, expire.expire_dead),
        Duty(60.0, check.Inspection().run),
        Duty(settings.JOBS_DEATH_NOTICE_INTERVAL, notify.notify_in_background),
    ]


class Clock:
    """Runs until `stop` is set. Survives the loss of the database: whoever is back first leads."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._session: object = None  # the connection that holds the leader's lock
        self._leads_since = 0.0
        self._duties = duties()

    def run(self) -> None:
        """Tick until stopped."""
        while not self._stop.is_set():
            try:
                if self._leads():
                    self._tick()
                else:
                    self._stop.wait(LONGEST_SLEEP)
            except (DatabaseError, InterfaceError) as error:
                telemetry.noticed("clock without database", error=type(error).__name__)
                connection.close()
                self._stop.wait(LONGEST_SLEEP)
        connection.close()

    def _leads(self) -> bool:
        """Whether this clock holds the lock, in the session it is using now."""
        connection.ensure_connection()
        if self._session is connection.connection:
            return True
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(hashtext('jobs.clock'), 0)")
            if not cursor.fetchone()[0]:
                if store.depose(SILENT):
                    telemetry.noticed("silent clock deposed")
                return False
            cursor.execute("LISTEN jobs_due")
        self._session = connection.connection
        self._leads_since = time.monotonic()
        telemetry.noticed("this clock leads")
        return True

    def _tick(self) -> None:
        moment = store.next_moment()  # before the work: one that passes meanwhile is not slept over
        promoted = promote()
        dispatch(in_line=False)  # the net, and what a rate limit has a token for again
        # After an outage every worker's last beat is old; give each the time to beat again before any is declared gone.
        if time.monotonic() - self._leads_since > store.live_for():
            recover.declare_gone()
        for duty in self._duties:
            duty.run_if_due()
        if moment is not None and moment <= 0 and not promoted:
            moment = SHORTEST_SLEEP
        self._sleep(LONGEST_SLEEP if moment is None else min(moment, LONGEST_SLEEP))

    def _sleep(self, seconds: float) -> None:
        """Until then, or until somebody submits a job for an earlier moment."""
        if seconds > 0:
            with connection.wrap_database_errors:  # psycopg's own would end the clock
                for _ in connection.connection.notifies(timeout=seconds, stop_after=1):
                    pass
