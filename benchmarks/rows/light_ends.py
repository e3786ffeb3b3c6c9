"""light_ends: what the end of a job costs where jobs end steadily: bodies that wait for a second, 150 in a light pool.

All CPU of a job, of the worker and of PostgreSQL, beside an ordinary pool's, whose 100 processes run the same bodies.
"""

import time
from pathlib import Path

from benchmarks import THOROUGH, bells, databases, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.light import Light
from benchmarks.contenders.ours import Ours
from benchmarks.cpu import Meter
from jobs import submit_many
from tests.waiting import wait_until

TENANTS, SECONDS = 10, (0.5, 0.7, 0.9, 1.1, 1.3, 1.5)  # of the bodies in turn, so that they do not end together
LIGHT, ORDINARY = 150, 100  # bodies at once; in the ordinary pool each is a process, with sessions of its own
WARM, WINDOW = 5.0, 15.0  # seconds; the first ones begin when all bodies run
PATIENCE = 60.0  # seconds until then
COUNT = int(1.5 * LIGHT * (WARM + WINDOW))  # jobs: more than end

ENDS, WORKERS, DATABASE, CPU = "ends/s", "CPU ms/end, workers", "CPU ms/end, database", "CPU ms/end, both"

BARS = [Bar(of=(CPU, "light"), to=(CPU, "ordinary"), at_most=0.6, goal=0.3)]


def measure(directory: Path) -> Figures:
    """The light pool, then the ordinary one."""
    light, ordinary = Light(seats=LIGHT // 2), Ours(mixed=THOROUGH)
    figures: Figures = {ENDS: {}, WORKERS: {}, DATABASE: {}, CPU: {}}
    sides = {"light": _ends(light, "arest", LIGHT, 2, directory)}
    databases.empty()
    sides["ordinary"] = _ends(ordinary, "rest", ORDINARY, ORDINARY, directory)
    for name, measured in sides.items():
        for what, value in measured.items():
            figures[what][name] = value
    return figures


def _ends(side: Ours, method: str, bodies: int, processes: int, directory: Path) -> dict[str, float]:
    side.prepare(tenants=TENANTS, slots=bodies // TENANTS)
    submit_many(
        side.request(side.things[n % TENANTS], method, n, turn=n // TENANTS, seconds=SECONDS[n % len(SECONDS)])
        for n in range(COUNT)
    )
    bells.forget()
    with stage.crew(directory, side.workers(processes)) as workers:
        wait_until(lambda: len(bells.heard()) >= bodies, "all bodies run", PATIENCE)
        time.sleep(WARM)
        meter, since, before = Meter(*(worker.pid for worker in workers)), time.monotonic(), _ended()
        time.sleep(WINDOW)
        count, seconds = _ended() - before, time.monotonic() - since
        outside, database = meter.read(count)
    figures = {ENDS: count / seconds, WORKERS: outside}
    if database is not None:
        figures |= {DATABASE: database, CPU: outside + database}
    return figures


def _ended() -> int:
    return sum(what == "end" for _, (what, *_) in bells.heard())
