"""The recorder of the leading clock, in a thread of its own: what it counts is large, and nobody waits for it."""

import threading

from jobs.recording import record, sample, statements
from jobs.worker.clock.aside import Aside
from jobs.worker.clock.clock import Clock
from jobs.worker.clock.duties import Duty
from jobs.worker.clock.time import LONGEST_SLEEP

REST = 50.0  # looks, samples, and the counts of hours, take at most a fiftieth of the time each


class Recorder(Aside):
    """Keeps the partitions, looks at what is under way, and counts what has ended. Two leaders at once do no harm."""

    name, timeout = "recorder", 20.0

    def __init__(self, stop: threading.Event, clock: Clock) -> None:
        super().__init__(stop, clock)
        self._duties = [
            Duty(3600.0, record.keep_partitions),
            Duty(5.0, statements.note_may_run, rest=REST),
            Duty(20.0, sample.record_sample, rest=REST),
            Duty(20.0, record.record_minutes),
            Duty(60.0, record.record_hours, rest=REST),
        ]

    def turn(self) -> float:
        for duty in self._duties:
            duty.run_if_due()
        return LONGEST_SLEEP
