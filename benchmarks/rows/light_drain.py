"""light_drain: 10,000 coroutines that do nothing, of ten tenants with 20 slots each, and of a hundred with 4.

A worker of a light pool with two processes of 100 seats each, and in the same run Celery's with two processes. It
counts the bodies from the WARM-th on, for at most WINDOW seconds; the dead rows of all of them. With THOROUGH the dead
rows have no bar: where a tenant limits its users or has a rate, no job follows another in its slot.
"""

import time
from pathlib import Path

from benchmarks import THOROUGH, bells, dead_rows, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.light import Light
from benchmarks.contenders.plain import Plain
from benchmarks.cpu import Meter
from benchmarks.rows.drain import BACKLOG, CPU, DATABASE, DEAD, RATE, WINDOW, WORKERS
from tests.waiting import wait_until

WARM = 1_000  # jobs, until every session and plan is there
FEW, MANY, CELERY = "10 x 20", "100 x 4", Plain.name  # tenants x slots; a column has nine characters

BARS = [
    Bar(of=(CPU, FEW), to=(CPU, CELERY), at_most=0.35, goal=0.18),
    Bar(of=(CPU, MANY), to=(CPU, CELERY), at_most=0.5, goal=0.3),
    Bar(of=(RATE, FEW), to=(RATE, CELERY), at_least=4, goal=8),
    *([] if THOROUGH else [Bar(of=(DEAD, FEW), at_most=3.5, goal=2.2)]),
]


def measure(directory: Path) -> Figures:
    """Each in turn."""
    figures: Figures = {RATE: {}, WORKERS: {}, DATABASE: {}, CPU: {}, DEAD: {}}
    sides: dict[str, Light | Plain] = {FEW: Light(10, 20), MANY: Light(100, 4), CELERY: Plain()}
    for name, side in sides.items():
        for what, value in _drain(side, directory).items():
            figures[what][name] = value
    for what in (DATABASE, DEAD):
        figures[what].pop(CELERY, None)  # it has no database: the figure is PostgreSQL at rest
    return figures


def _drain(side: Light | Plain, directory: Path) -> dict[str, float]:
    side.prepare()
    side.fill_with_nothing(BACKLOG)
    counted, dead = bells.tallied(), dead_rows.count()
    with stage.crew(directory, side.workers()) as workers:
        wait_until(lambda: bells.tallied() >= counted + WARM, "the first jobs have run")
        meter, since, before = Meter(*(worker.pid for worker in workers)), time.monotonic(), bells.tallied()
        until = since + WINDOW
        wait_until(lambda: bells.tallied() >= counted + BACKLOG or time.monotonic() > until, "the window ends")
        count, seconds = bells.tallied() - before, time.monotonic() - since
        outside, database = meter.read(count)
    figures = {RATE: count / seconds, WORKERS: outside, DEAD: (dead_rows.count() - dead) / (bells.tallied() - counted)}
    if database is not None:
        figures |= {DATABASE: database, CPU: outside + database}
    return figures
