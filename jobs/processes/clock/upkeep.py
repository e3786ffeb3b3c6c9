"""The slow duties of the leading clock."""

import threading

from django.db import DatabaseError, InterfaceError, connection

from jobs import store, telemetry
from jobs.processes.clock.clock import LOCK_TIMEOUT, Clock
from jobs.processes.clock.duties import slow_duties
from jobs.processes.clock.time import LONGEST_SLEEP
from jobs.processes.watchdog import Progress
from jobs.tasks import WORKER_ID

UPKEEP_TIMEOUT = 120.0  # seconds that a statement of the upkeep may take


class Upkeep:
    """The leader's slow duties, in a thread of their own until `stop` is set."""

    def __init__(self, stop: threading.Event, clock: Clock) -> None:
        self._stop = stop
        self._clock = clock
        self._duties = slow_duties()

    def run(self, progress: Progress | None = None) -> None:
        """Run them while the clock leads."""
        store.keep_sessions(WORKER_ID, "upkeep", lock_timeout=LOCK_TIMEOUT, statement_timeout=UPKEEP_TIMEOUT)
        progress = progress or Progress()
        while not self._stop.wait(LONGEST_SLEEP):
            progress.note()
            try:
                if self._clock.leads.is_set():
                    for duty in self._duties:
                        duty.run_if_due()
                else:
                    connection.close()
            except (DatabaseError, InterfaceError) as error:
                telemetry.noticed("upkeep without database", error=type(error).__name__)
                connection.close()
