"""pickup: 20 jobs a second without work, for ten workers: from the submit to the start.

A scenario of a public benchmark: benchmarks/public/scenarios.py.
"""

from pathlib import Path

from benchmarks.bars import Bar, Figures
from benchmarks.public.driving import compare
from benchmarks.public.scenarios import PICKUP

BARS = [Bar(of=("all, p95 ms", "ours"), at_most=30)]


def measure(directory: Path) -> Figures:
    return compare(PICKUP, directory)
