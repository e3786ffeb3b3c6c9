"""drain: jobs per second and their cost, for a backlog of empty jobs and a worker with two processes.

It counts the bells of the bodies, from the WARM-th on, for at most WINDOW seconds; the dead rows of all of them.
"""

import time
from pathlib import Path

from benchmarks import bells, dead_rows, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.contender import Contender
from benchmarks.contenders.ours import Ours
from benchmarks.contenders.plain import Plain
from benchmarks.contenders.seed import Seed
from benchmarks.cpu import Meter
from tests.waiting import wait_until

BACKLOG = 10_000  # jobs
WINDOW = 10.0  # seconds
WARM = 200  # jobs, until every connection and plan is there

RATE, WORKERS, DATABASE, CPU = "jobs/s", "CPU ms/job, workers", "CPU ms/job, database", "CPU ms/job, both"
DEAD = "dead rows per job"

BARS = [
    Bar(of=(RATE, "ours"), to=(RATE, "Celery"), at_least=0.6),
    Bar(of=(CPU, "ours"), to=(CPU, "Celery"), at_most=1.2),
    Bar(of=(DEAD, "ours"), at_most=3),
]


def measure(directory: Path) -> Figures:
    """Each contender in turn."""
    figures: Figures = {RATE: {}, WORKERS: {}, DATABASE: {}, CPU: {}, DEAD: {}}
    for contender in (Ours(), Plain(), Seed()):
        for what, value in _drain(contender, directory).items():
            figures[what][contender.name] = value
    for what in (DATABASE, DEAD):
        figures[what].pop(Plain.name, None)  # it has no database: the figure is PostgreSQL at rest
    return figures


def _drain(contender: Contender, directory: Path) -> dict[str, float]:
    contender.prepare()
    contender.fill(BACKLOG)
    bells.forget()
    dead = dead_rows.count()
    with stage.playing(directory, contender.name, contender.worker()) as worker:
        contender.begin()
        bells.wait(WARM)
        meter, since, before = Meter(worker.pid), time.monotonic(), len(bells.heard())
        wait_until(lambda: len(bells.heard()) >= BACKLOG or time.monotonic() > since + WINDOW, "the window ends")
        count, seconds = len(bells.heard()) - before, time.monotonic() - since
        workers, database = meter.read(count)
    figures = {RATE: count / seconds, WORKERS: workers, DEAD: (dead_rows.count() - dead) / len(bells.heard())}
    if database is not None:
        figures |= {DATABASE: database, CPU: workers + database}
    return figures
