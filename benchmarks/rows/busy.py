"""busy: the share of the time that four processes spend in bodies, with more jobs of 50 ms than they can run."""

from pathlib import Path

from benchmarks import bells, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.ours import Ours
from jobs import submit_many
from tests.waiting import wait_until

PROCESSES, TENANTS, RUN_TIME = 4, 10, 0.05  # seconds of a body
WARM, WINDOW = 2.0, 10.0  # seconds
BUSY = "processes busy with bodies"

BARS = [Bar(of=(BUSY, "ours"), at_least=0.95)]


def measure(directory: Path) -> Figures:
    """Only ours: a process that gets its next job late lowers the figure."""
    ours = Ours()
    ours.prepare(tenants=TENANTS, slots=PROCESSES)
    count = int(2 * PROCESSES * (WARM + WINDOW) / RUN_TIME / TENANTS)
    for thing in ours.things:
        submit_many(thing.async_.rest.request(n, seconds=RUN_TIME) for n in range(count))
    bells.forget()
    with stage.playing(directory, ours.name, ours.worker(PROCESSES)):
        bells.wait(PROCESSES)
        begin = bells.heard()[0].moment + WARM
        end = begin + WINDOW
        wait_until(lambda: bells.heard()[-1].moment > end, "the window ends", WARM + WINDOW + 30)
    return {BUSY: {ours.name: bells.seconds_in_bodies(begin, end).total() / (PROCESSES * WINDOW)}}
