"""busy: the share of the time that four processes spend in bodies, with more jobs of 50 ms than they can run.

Plain Celery beside it shows what this machine leaves of the time: its processes have the next message waiting.
"""

from pathlib import Path

from benchmarks import bells, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.ours import Ours
from benchmarks.contenders.plain import Plain
from embedded.fleet import Command
from jobs import submit_many
from tests.waiting import wait_until

PROCESSES, TENANTS, RUN_TIME = 4, 10, 0.05  # seconds of a body
WARM, WINDOW = 2.0, 10.0  # seconds
COUNT = int(2 * PROCESSES * (WARM + WINDOW) / RUN_TIME / TENANTS) * TENANTS  # jobs: more than run
BUSY = "processes busy with bodies"

BARS = [Bar(of=(BUSY, "ours"), at_least=0.92)]


def measure(directory: Path) -> Figures:
    """A process that gets its next job late lowers the figure."""
    ours, plain = Ours(), Plain()
    ours.prepare(tenants=TENANTS, slots=PROCESSES)
    for thing in ours.things:
        submit_many(thing.async_.rest.request(n, seconds=RUN_TIME) for n in range(COUNT // TENANTS))
    figures = {ours.name: _busy(directory, ours.name, ours.worker(PROCESSES))}
    plain.prepare()
    for n in range(COUNT):
        plain.rest(n, RUN_TIME)
    figures[plain.name] = _busy(directory, plain.name, plain.worker(PROCESSES))
    return {BUSY: figures}


def _busy(directory: Path, name: str, worker: Command) -> float:
    bells.forget()
    with stage.playing(directory, name, worker):
        bells.wait(PROCESSES)
        begin = bells.heard()[0].moment + WARM
        end = begin + WINDOW
        wait_until(lambda: bells.heard()[-1].moment > end, "the window ends", WARM + WINDOW + 30)
    return bells.seconds_in_bodies(begin, end).total() / (PROCESSES * WINDOW)
