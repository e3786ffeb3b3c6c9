"""The clock: promotes what is due at its moment, recovers, and dispatches every few seconds as a net.

Every worker carries one; `manage.py clock` runs it alone. An advisory lock makes one of them the leader. It is a
session lock, so it needs a direct connection or a pooler in session mode.
"""

import threading
import time

from django.db import DatabaseError, InterfaceError, connection

from jobs import store, telemetry
from jobs.engine import recover
from jobs.engine.dispatch import dispatch
from jobs.engine.promote import promote

NET_INTERVAL = 2.0  # seconds between two rounds of recovery and the dispatch that is the net
LONGEST_SLEEP = 1.0  # seconds; also how soon another clock takes over, and how soon a stop is heard


class Clock:
    """Runs until `stop` is set. Survives the loss of the database: whoever is back first leads."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._session: object = None  # the connection that holds the leader's lock
        self._leads_since = 0.0
        self._next_round = 0.0

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
                return False
            cursor.execute("LISTEN jobs_due")
        self._session = connection.connection
        self._leads_since = time.monotonic()
        self._next_round = 0.0
        telemetry.noticed("this clock leads")
        return True

    def _tick(self) -> None:
        promote()
        if time.monotonic() >= self._next_round:
            self._round()
            self._next_round = time.monotonic() + NET_INTERVAL
        due = store.next_due()
        pause = min(self._next_round - time.monotonic(), LONGEST_SLEEP, LONGEST_SLEEP if due is None else due)
        if pause > 0:
            # A job submitted for an earlier moment ends the sleep.
            for _ in connection.connection.notifies(timeout=pause, stop_after=1):
                pass

    def _round(self) -> None:
        # After an outage every worker's last beat is old; give each the time to beat again before any is declared gone.
        if time.monotonic() - self._leads_since > store.live_for():
            recover.declare_gone()
        recover.take_back_orphans()
        recover.hand_over_again()
        dispatch(in_line=False)
