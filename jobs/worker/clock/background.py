"""The threads of the leading clock beside its loop, for work that may take long. Two leaders at a time do no harm."""

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
    """A thread that runs its duties while the clock leads, until `stop` is set."""

    def __init__(
        self, stop: threading.Event, clock: Clock, name: str, *, timeout: float, duties: Sequence[Duty]
    ) -> None:
        """Prepare the thread.

        name: the name of its sessions
        timeout: seconds that a statement may take
        """
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
        """Run the duties that are due; return the seconds until the next turn. Raises the database's errors."""
        for duty in self._duties:
            duty.run_if_due()
        return LONGEST_SLEEP


def upkeep(stop: threading.Event, clock: Clock) -> Background:
    """Return the thread for the duties that read much."""
    return Background(stop, clock, "upkeep", timeout=120.0, duties=slow_duties())


def recorder(stop: threading.Event, clock: Clock) -> Background:
    """Return the thread that keeps partitions, samples running work, and counts ended jobs: long, and never urgent."""
    return Background(stop, clock, "recorder", timeout=20.0, duties=recording_duties())


class Schedules(Background):
    """The thread that submits the jobs of schedules at their moments (I10).

    It is a thread of its own, so that many schedules due at 6:00 do not delay retries.
    """

    def __init__(self, stop: threading.Event, clock: Clock) -> None:
        super().__init__(stop, clock, "schedules", timeout=30.0, duties=[Duty(60.0, declare)])

    def turn(self) -> float:
        try_step(run_due)
        super().turn()
        seconds = store.next_run()
        if seconds is None:
            return LONGEST_SLEEP
        return min(max(seconds, SHORTEST_SLEEP), LONGEST_SLEEP)  # a schedule that is still due is locked


class Webhooks(Background):
    """The thread that posts to tenants' systems how their jobs ended. Each receiver has a thread of its own."""

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
