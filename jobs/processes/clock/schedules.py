"""Recurring jobs of the leading clock, in a thread of their own: many jobs due at 6:00 must not delay retries."""

import threading
import time

from django.db import DatabaseError, InterfaceError, connection

from jobs import store, telemetry
from jobs.engine.schedules.declared import declare
from jobs.engine.schedules.run import run_due
from jobs.processes.clock.clock import LOCK_TIMEOUT, Clock
from jobs.processes.clock.time import LONGEST_SLEEP
from jobs.processes.watchdog import Progress
from jobs.tasks import WORKER_ID

STATEMENT_TIMEOUT = 30.0  # seconds
DECLARE_EVERY = 60.0  # seconds


class Schedules:
    """Runs until `stop` is set, and works while the clock leads. Two at once do no harm (I10)."""

    def __init__(self, stop: threading.Event, clock: Clock) -> None:
        self._stop = stop
        self._clock = clock
        self._declare_at = 0.0

    def run(self, progress: Progress | None = None) -> None:
        """Submit due jobs until stopped."""
        store.keep_sessions(WORKER_ID, "schedules", lock_timeout=LOCK_TIMEOUT, statement_timeout=STATEMENT_TIMEOUT)
        progress = progress or Progress()
        pause = LONGEST_SLEEP
        while not self._stop.wait(pause):
            progress.note()
            pause = LONGEST_SLEEP
            try:
                if self._clock.leads.is_set():
                    pause = self._turn()
                else:
                    connection.close()
            except (DatabaseError, InterfaceError) as error:
                telemetry.noticed("schedules without database", error=type(error).__name__)
                connection.close()

    def _turn(self) -> float:
        if time.monotonic() >= self._declare_at:
            declare()
            self._declare_at = time.monotonic() + DECLARE_EVERY
        run_due()
        seconds = store.next_run()
        return LONGEST_SLEEP if seconds is None else max(0.0, min(seconds, LONGEST_SLEEP))
