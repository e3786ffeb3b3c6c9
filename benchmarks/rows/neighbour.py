"""neighbour: one tenant submits 90 % of 100 jobs a second to ten workers that can do 41: how long do the others wait?

A scenario of a public benchmark: benchmarks/public/scenarios.py.
"""

from pathlib import Path

from benchmarks.bars import Bar, Figures
from benchmarks.public.driving import DONE, compare
from benchmarks.public.scenarios import NEIGHBOUR

BARS = [
    Bar(of=("quiet, p95 ms", "ours"), to=("quiet, p95 ms", "Procr."), at_most=0.1),
    Bar(of=(DONE, "ours"), to=(DONE, "Procr."), at_least=0.8),
]


def measure(directory: Path) -> Figures:
    return compare(NEIGHBOUR, directory)
