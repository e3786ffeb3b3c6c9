"""burst: 50 jobs a second for ten workers, and ten times as many for five seconds.

A scenario of a public benchmark: benchmarks/public/scenarios.py.
"""

from pathlib import Path

from benchmarks.bars import Bar, Figures
from benchmarks.public.driving import DONE, compare
from benchmarks.public.scenarios import BURST

BARS = [Bar(of=(DONE, "ours"), to=(DONE, "Procr."), at_least=0.6)]


def measure(directory: Path) -> Figures:
    return compare(BURST, directory)
