"""fleet: how busy a thousand processes are with jobs of ten seconds: 100 jobs end each second, and as many must begin.

"1,000 x 10 s, 100": 1,000 simulated processes, jobs of 10 s, 100 tenants. `db ms`, `program ms`: CPU of a job.
"""

from pathlib import Path

from benchmarks.bars import Bar, Figures
from benchmarks.simulated import Fleet

FLEETS = (Fleet(1_000, 10.0, tenants=100), Fleet(1_000, 10.0, tenants=1_000))

BARS = [Bar(of=(fleet.busy, "ours"), at_least=0.98) for fleet in FLEETS]


def measure(directory: Path) -> Figures:
    """One fleet after the other."""
    return {what: {"ours": value} for fleet in FLEETS for what, value in fleet.figures().items()}
