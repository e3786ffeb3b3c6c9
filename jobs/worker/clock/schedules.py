"""Recurring jobs of the leading clock, in a thread of their own: many jobs due at 6:00 must not delay retries."""

import threading

from jobs import store
from jobs.engine.schedules.declared import declare
from jobs.engine.schedules.run import run_due
from jobs.worker.clock.aside import Aside
from jobs.worker.clock.clock import SHORTEST_SLEEP, Clock
from jobs.worker.clock.duties import Duty, given_up_in_time
from jobs.worker.clock.time import LONGEST_SLEEP


class Schedules(Aside):
    """Submits due jobs at their moments. Two leaders at once do no harm (I10)."""

    name, timeout = "schedules", 30.0

    def __init__(self, stop: threading.Event, clock: Clock) -> None:
        super().__init__(stop, clock)
        self._declare = Duty(60.0, declare)

    def turn(self) -> float:
        given_up_in_time(run_due)
        self._declare.run_if_due()  # last: a fault in the list of one job type must not stop the due jobs
        seconds = store.next_run()
        if seconds is None:
            return LONGEST_SLEEP
        return min(max(seconds, SHORTEST_SLEEP), LONGEST_SLEEP)  # what is due and still there is locked
