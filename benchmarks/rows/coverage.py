"""coverage: how often what is said of the starts of jobs holds, with real workers, in a mix and in growing overload."""

from pathlib import Path

from benchmarks import SHORTER, coverage
from benchmarks.bars import Bar, Figures

MIXED, OVERLOAD = "mixed", "overload"
LOADS = {MIXED: (0.85, 0.85), OVERLOAD: (0.9, 1.6)}
SECONDS = 600.0  # of each

BARS = [
    Bar(of=(coverage.HALF, MIXED), at_least=0.4, at_most=0.6),
    Bar(of=(coverage.MOST, MIXED), at_least=0.85, at_most=0.95),
    Bar(of=(coverage.SAID, OVERLOAD), at_least=0.85),
    Bar(of=(coverage.LOSS_HALF, MIXED), to=(coverage.AHEAD_HALF, MIXED), at_most=1.0),
    Bar(of=(coverage.LOSS_MOST, MIXED), to=(coverage.AHEAD_MOST, MIXED), at_most=1.0),
    Bar(of=(coverage.LOSS_HALF, MIXED), to=(coverage.PAST_HALF, MIXED), at_most=1.0),
    Bar(of=(coverage.LOSS_MOST, MIXED), to=(coverage.PAST_MOST, MIXED), at_most=1.0),
]


def measure(directory: Path) -> Figures:
    """What is learned in the first is known in the second; a shorter run is of the first alone."""
    figures: Figures = {}
    for name in [MIXED] if SHORTER else LOADS:
        for what, value in coverage.measure(directory, name, SHORTER or SECONDS, LOADS[name]).items():
            figures.setdefault(what, {})[name] = value
    return figures
