"""The slow duties of the leading clock."""

import threading

from jobs.worker.clock.aside import Aside
from jobs.worker.clock.clock import Clock
from jobs.worker.clock.duties import slow_duties
from jobs.worker.clock.time import LONGEST_SLEEP


class Upkeep(Aside):
    """Runs the duties that read much."""

    name, timeout = "upkeep", 120.0

    def __init__(self, stop: threading.Event, clock: Clock) -> None:
        super().__init__(stop, clock)
        self._duties = slow_duties()

    def turn(self) -> float:
        for duty in self._duties:
            duty.run_if_due()
        return LONGEST_SLEEP
