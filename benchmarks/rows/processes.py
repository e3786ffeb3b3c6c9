"""processes: jobs of a millisecond, of a backlog of 6,000, with 1, 4, 16 and 64 processes on this machine.

The throughput of a public benchmark (docs/compared.md); Procrastinate, which runs coroutines, beside it.
"""

import time
from pathlib import Path

from benchmarks import bells, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.ours import Ours
from benchmarks.contenders.procrastinate import Procrastinate
from benchmarks.public.driving import Side
from benchmarks.public.scenarios import Arrival
from tests.waiting import wait_until

BACKLOG, TENANTS = 6_000, 10
CROWDS = (1, 4, 16, 64)
WARM = 40  # jobs of a process, until its connection and its plans are there
WINDOW = 30.0  # seconds

BARS = [Bar(of=(f"jobs/s, {crowd}", "ours"), to=(f"jobs/s, {CROWDS[1]}", "ours"), at_least=1) for crowd in CROWDS[2:]]


def measure(directory: Path) -> Figures:
    """Both with one process, then both with four, and so on."""
    figures: Figures = {}
    for crowd in CROWDS:
        for side in (Ours(), Procrastinate()):
            figures.setdefault(f"jobs/s, {crowd}", {})[side.name] = _rate(side, crowd, directory)
    return figures


def _rate(side: Side, crowd: int, directory: Path) -> float:
    side.open(TENANTS, crowd)
    bells.forget()
    for n in range(BACKLOG):
        side.put(n, Arrival(0, n % TENANTS, 0.001, 0))
    with stage.playing(directory, f"{side.name}{crowd}", side.crew(crowd)):
        bells.wait(2 * WARM * crowd)
        before, since = len(bells.heard()), time.monotonic()
        until = since + WINDOW
        wait_until(lambda: len(bells.heard()) >= 2 * BACKLOG or time.monotonic() > until, "the window ends", 2 * WINDOW)
        return (len(bells.heard()) - before) / 2 / (time.monotonic() - since)
