"""The loop of the leading clock: promote due jobs in time, dispatch as a safety net, run the duties."""

import threading
from collections.abc import Callable

from django.db import connection

from jobs import store, telemetry
from jobs.engine.door.dispatch import dispatch
from jobs.engine.door.promote import lapse, promote
from jobs.engine.upkeep import id_gaps, recover
from jobs.worker.clock.duties import Duty, duties, try_step
from jobs.worker.clock.steady_time import LONGEST_SLEEP, SteadyTime
from jobs.worker.message import WORKER_ID
from jobs.worker.threads.watchdog import Progress
from jobs.worker.threads.without_database import Database

SHORTEST_SLEEP = 0.1  # seconds after a tick that could not move a job at its moment because its row is locked
SILENT_SECONDS = 5.0  # seconds of silence after which a leader counts as stopped
DOOR_SECONDS = 3.0  # seconds of silence after which a client inside the door counts as cut off
LOCK_TIMEOUT = 1.0  # seconds that a statement of the clock may wait for a lock
STATEMENT_TIMEOUT = 10.0  # seconds that a statement of the clock may take


def clear_door() -> None:
    """End the passes whose hosts were cut off inside the door."""
    if store.clear_door(DOOR_SECONDS):
        telemetry.noticed("silent pass ended, it held the door")


class Clock:
    """The clock of a process. It survives the loss of the database: then the first clock to reconnect leads."""

    def __init__(self, stop: threading.Event, away: Callable[[], bool] = lambda: False) -> None:
        """Make a clock that runs until `stop` is set.

        away: returns whether the broker is out of reach; then the clock of a worker that reaches it should lead
        """
        self._stop, self._away = stop, away
        self._session: object = None  # the connection that holds the leader's lock
        self._steady = SteadyTime()
        self._door, self._duties = Duty(1.0, clear_door), duties()
        self.leads = threading.Event()
        self._database = Database("clock")

    def run(self, progress: Progress | None = None) -> None:
        """Tick until stopped."""
        store.keep_sessions(WORKER_ID, "clock", lock_timeout=LOCK_TIMEOUT, statement_timeout=STATEMENT_TIMEOUT)
        progress = progress or Progress()
        while not self._stop.is_set():
            progress.note()
            with self._database:
                if self._leads():
                    self._tick()
                else:
                    self._stop.wait(LONGEST_SLEEP)
            if self._database.away:
                self.leads.clear()
                self._stop.wait(LONGEST_SLEEP)
        self.leads.clear()
        connection.close()

    def _leads(self) -> bool:
        """Return whether this clock leads: take the leader's lock if it is free, give it up if the broker is away."""
        connection.ensure_connection()
        if self._away() and store.another_reaches_broker(WORKER_ID):
            if self.leads.is_set():
                telemetry.noticed("this clock gives up the lead, broker out of reach")
                connection.close()
            self.leads.clear()
            return False
        if self._session is connection.connection:
            return True
        self.leads.clear()
        if not store.lead():
            if store.depose(SILENT_SECONDS):
                telemetry.noticed("silent clock deposed")
            return False
        self._session = connection.connection
        self._steady = SteadyTime()
        id_gaps.skip_on_a_new_server()
        self.leads.set()
        telemetry.begun("this clock leads")
        return True

    def _tick(self) -> None:
        looked = self._steady.look()
        # Before the dispatch, which ends this session if the door stays shut: dead workers are found even then.
        try_step(lambda: recover.declare_gone(self._steady.watched, looked))
        self._door.run_if_due()
        moment = store.next_moment()  # read it before the work, so that a moment that passes meanwhile is not missed
        moved = [try_step(step) for step in (lapse, promote)]  # lapse first: expired jobs are not promoted
        try_step(lambda: dispatch(in_line=False))  # jobs that other dispatches missed, or that have a token again
        for duty in self._duties:
            duty.run_if_due()
        if moment is not None and moment <= 0 and not any(moved):
            moment = SHORTEST_SLEEP
        self._sleep(LONGEST_SLEEP if moment is None else min(moment, LONGEST_SLEEP))

    def _sleep(self, seconds: float) -> None:
        """Sleep that long, or until a job with an earlier moment is submitted."""
        if seconds > 0:
            with connection.wrap_database_errors:  # psycopg's own error would end the clock
                for _ in connection.connection.notifies(timeout=seconds, stop_after=1):
                    pass
