"""light_drain: the row `drain` with a light pool: 10,000 empty coroutines, one worker of two processes, 100 seats each.

Of ten tenants with 20 slots each, and of a hundred with 4; Celery beside both, in the same run.
"""

from pathlib import Path

from benchmarks.bars import Bar, Figures
from benchmarks.contenders.light import Light
from benchmarks.contenders.plain import Plain
from benchmarks.rows.drain import CPU, DATABASE, DEAD, RATE, WORKERS, drained

FEW, MANY = "10 x 20", "100 x 4"  # tenants x slots: who the contender is

BARS = [
    Bar(of=(CPU, FEW), to=(CPU, "Celery"), at_most=0.35),
    Bar(of=(CPU, MANY), to=(CPU, "Celery"), at_most=0.5),
    Bar(of=(RATE, FEW), to=(RATE, "Celery"), at_least=4),
    Bar(of=(DEAD, FEW), at_most=3.5),
]
GOALS = [
    Bar(of=(CPU, FEW), to=(CPU, "Celery"), at_most=0.18),
    Bar(of=(CPU, MANY), to=(CPU, "Celery"), at_most=0.3),
    Bar(of=(RATE, FEW), to=(RATE, "Celery"), at_least=8),
    Bar(of=(DEAD, FEW), at_most=2.2),
]


def measure(directory: Path) -> Figures:
    """Each in turn."""
    figures: Figures = {RATE: {}, WORKERS: {}, DATABASE: {}, CPU: {}, DEAD: {}}
    sides = {FEW: Light(10, 20), MANY: Light(100, 4), Plain.name: Plain()}
    for name, side in sides.items():
        for what, value in drained(side, directory).items():
            figures[what][name] = value
    for what in (DATABASE, DEAD):
        del figures[what][Plain.name]  # it has no database: the figure is PostgreSQL at rest
    return figures
