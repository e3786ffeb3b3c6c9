"""flood: 300 single submits a second of ten tenants, for 100 workers: processes, seats of a light pool, coroutines.

A scenario of a public benchmark: benchmarks/public/scenarios.py.
"""

from pathlib import Path

from benchmarks.bars import Bar, Figures
from benchmarks.public.driving import SUBMITS, compare
from benchmarks.public.scenarios import FLOOD

BARS = [
    Bar(of=(SUBMITS, "ours"), at_least=100),
    Bar(of=("all, p95 ms", "ours"), at_most=5000),
]


def measure(directory: Path) -> Figures:
    return compare(FLOOD, directory, light=True)
