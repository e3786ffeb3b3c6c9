"""A thread of the leading clock beside its loop, for work that may take long."""

import threading

from django.db import DatabaseError, InterfaceError, connection

from jobs import store, telemetry
from jobs.worker.clock.clock import LOCK_TIMEOUT, Clock
from jobs.worker.clock.time import LONGEST_SLEEP
from jobs.worker.message import WORKER_ID
from jobs.worker.threads.watchdog import Progress


class Aside:
    """Takes turns until `stop` is set, while the clock leads. name: of its sessions; timeout: of a statement, in s."""

    name: str
    timeout: float

    def __init__(self, stop: threading.Event, clock: Clock) -> None:
        self._stop = stop
        self._clock = clock

    def run(self, progress: Progress | None = None) -> None:
        """Take turns until stopped. Survives the loss of the database."""
        store.keep_sessions(WORKER_ID, self.name, lock_timeout=LOCK_TIMEOUT, statement_timeout=self.timeout)
        progress = progress or Progress()
        pause = 0.0
        while not self._stop.wait(pause):
            progress.note()
            pause = LONGEST_SLEEP
            try:
                if self._clock.leads.is_set():
                    pause = self.turn()
                else:
                    connection.close()
            except (DatabaseError, InterfaceError) as error:
                telemetry.noticed("clock without database", thread=self.name, error=type(error).__name__)
                connection.close()

    def turn(self) -> float:
        """Do what is to be done now; the seconds until the next turn. Raises the database's errors."""
        raise NotImplementedError
