"""fleets: the row `fleet` with more processes, shorter jobs and more tenants, to see where one installation ends."""

from pathlib import Path

from benchmarks.bars import Bar, Figures
from benchmarks.simulated import Fleet

FLEETS = (
    Fleet(5_000, 30.0, tenants=1_000),
    Fleet(1_000, 1.0, tenants=1_000),
    Fleet(1_000, 10.0, tenants=10_000),
)

BARS: list[Bar] = []  # none: two programs end some 300 jobs a second at most


def measure(directory: Path) -> Figures:
    """One fleet after the other."""
    return {what: {"ours": value} for fleet in FLEETS for what, value in fleet.figures().items()}
