"""processes: jobs of a millisecond, of a backlog of 6,000, with 1, 4, 16 and 64 processes on this machine.

The throughput of a public benchmark (docs/compared.md). Beside it a light pool with as many seats in two processes,
Celery's own processes, which show what 64 of them cost two cores whoever sends the work, and Procrastinate, which runs
coroutines.
"""

import time
from pathlib import Path

from benchmarks import SHORTER, bells, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.light import LightSide
from benchmarks.contenders.ours import Ours
from benchmarks.contenders.plain import Plain
from benchmarks.contenders.procrastinate import Procrastinate
from benchmarks.public.driving import Side
from benchmarks.public.scenarios import Arrival
from embedded.fleet import Command
from tests.waiting import wait_until

BACKLOG, TENANTS = 6_000, 10
CROWDS = (1, 4, 16, 64)
WARM = 40  # jobs of a process, until its connection and its plans are there
WINDOW = 30.0  # seconds
WORK = 0.001  # seconds of a body

BARS = [Bar(of=(f"jobs/s, {crowd}", "ours"), to=(f"jobs/s, {CROWDS[1]}", "ours"), at_least=1) for crowd in CROWDS[2:]]


def measure(directory: Path) -> Figures:
    """All four with one process, then all with four, and so on."""
    figures: Figures = {}
    for crowd in CROWDS[-1:] if SHORTER else CROWDS:
        rates = figures.setdefault(f"jobs/s, {crowd}", {})
        for side in (Ours(), LightSide(), Procrastinate()):
            rates[side.name] = _rate(_filled(side, crowd), crowd, directory / f"{side.name}{crowd}")
        rates[Plain.name] = _rate(_filled_celery(crowd), crowd, directory / f"{Plain.name}{crowd}")
    return figures


def _filled(side: Side, crowd: int) -> Command:
    """Submit the backlog; return the command of the worker."""
    side.open(TENANTS, crowd)
    for n in range(BACKLOG):
        side.put(n, Arrival(0, n % TENANTS, WORK, 0))
    return side.crew(crowd)


def _filled_celery(crowd: int) -> Command:
    celery = Plain()
    celery.prepare()
    for n in range(BACKLOG):
        celery.rest(n, WORK)
    return celery.worker(crowd)


def _rate(worker: Command, crowd: int, log: Path) -> float:
    bells.forget()
    with stage.playing(log.parent, log.name, worker):
        bells.wait(2 * WARM * crowd)
        before, since = len(bells.heard()), time.monotonic()
        until = since + (SHORTER or WINDOW)
        wait_until(lambda: len(bells.heard()) >= 2 * BACKLOG or time.monotonic() > until, "the window ends", 2 * WINDOW)
        return (len(bells.heard()) - before) / 2 / (time.monotonic() - since)
