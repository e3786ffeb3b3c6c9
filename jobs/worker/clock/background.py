"""The threads of the leading clock beside its loop, for work that may take long. Two leaders at once do no harm."""

import threading
from collections.abc import Sequence

from django.db import connection

from jobs import store
from jobs.engine.schedules.declared import declare
from jobs.engine.schedules.run import run_due
from jobs.engine.webhooks import outbox
from jobs.engine.webhooks.couriers import Couriers
from jobs.engine.webhooks.postman import Postman
from jobs.worker.clock.clock import LOCK_TIMEOUT, SHORTEST_SLEEP, Clock
from jobs.worker.clock.duties import Duty, recording_duties, slow_duties, try_step
from jobs.worker.clock.steady_time import LONGEST_SLEEP
from jobs.worker.message import WORKER_ID
from jobs.worker.threads.watchdog import Progress
from jobs.worker.threads.without_database import Database


class Background:
    """Does its duties until `stop` is set, while the clock leads. name: of its sessions. timeout: s, of a statement."""

    def __init__(
        self, stop: threading.Event, clock: Clock, name: str, *, timeout: float, duties: Sequence[Duty]
    ) -> None:
        self._stop, self._clock = stop, clock
        self._name, self._timeout, self._duties = name, timeout, duties

    def run(self, progress: Progress | None = None) -> None:
        """Take turns until stopped. Survives the loss of the database."""
        store.keep_sessions(WORKER_ID, self._name, lock_timeout=LOCK_TIMEOUT, statement_timeout=self._timeout)
        progress = progress or Progress()
        pause, database = 0.0, Database(self._name)
        while not self._stop.wait(pause):
            progress.note()
            pause = LONGEST_SLEEP
            with database:
                if self._clock.leads.is_set():
                    pause = self.turn()
                else:
                    connection.close()

    def turn(self) -> float:
        """Do what is to be done now; the seconds until the next turn. Raises the database's errors."""
        for duty in self._duties:
            duty.run_if_due()
        return LONGEST_SLEEP


def upkeep(stop: threading.Event, clock: Clock) -> Background:
    """For the duties that read much."""
    return Background(stop, clock, "upkeep", timeout=120.0, duties=slow_duties())


def recorder(stop: threading.Event, clock: Clock) -> Background:
    """Keeps the partitions, looks at what is under way, and counts what has ended: much, and nobody waits for it."""
    return Background(stop, clock, "recorder", timeout=20.0, duties=recording_duties())


class Schedules(Background):
    """Submits due jobs at their moments (I10): many that are due at 6:00 must not delay retries."""

    def __init__(self, stop: threading.Event, clock: Clock) -> None:
        super().__init__(stop, clock, "schedules", timeout=30.0, duties=[Duty(60.0, declare)])

    def turn(self) -> float:
        try_step(run_due)
        super().turn()
        seconds = store.next_run()
        if seconds is None:
            return LONGEST_SLEEP
        return min(max(seconds, SHORTEST_SLEEP), LONGEST_SLEEP)  # what is due and still there is locked


class Webhooks(Background):
    """Tells tenants' systems how their jobs ended. It waits for no receiver: each has a thread of its own."""

    def __init__(self, stop: threading.Event, clock: Clock) -> None:
        super().__init__(stop, clock, "webhooks", timeout=20.0, duties=[Duty(60.0, outbox.drop)])
        self._couriers = Couriers(stop, Postman().post)

    def turn(self) -> float:
        super().turn()
        try_step(self._couriers.take)
        while self._couriers.busy:
            try_step(self._couriers.note)
            if self._clock.leads.is_set():
                super().turn()
                try_step(self._couriers.take)
        return LONGEST_SLEEP
