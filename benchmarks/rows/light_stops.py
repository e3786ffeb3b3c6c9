"""light_stops: coroutines that are stopped: from the call that cancels a job, or from the limit, to its `finally`.

Two hundred wait; fifty of them are cancelled one by one. Then 60 that began at once reach their limit of a second.
"""

import time
from pathlib import Path
from statistics import quantiles

from benchmarks import bells, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.light import Light
from jobs.engine.verbs.cancel import cancel
from jobs.store import EVERY_TENANT
from tests.waiting import wait_until

TENANTS, SLOTS, SEATS, PROCESSES = 10, 30, 150, 2
WAITING, CANCELLED, LIMITED = 200, 50, 60
LONG, LIMIT = 600.0, 1.0  # seconds
EVERY = 0.05  # seconds between two cancels

CANCEL, LATE = "cancel to finally, {} ms", "beyond the limit, {} ms"

BARS = [
    Bar(of=(CANCEL.format("p99"), "ours"), at_most=100, goal=10),
    Bar(of=(LATE.format("p99"), "ours"), at_most=150, goal=100),
]


def measure(directory: Path) -> Figures:
    """The figures in milliseconds."""
    side = Light(TENANTS, SLOTS, SEATS)
    side.prepare()
    ids = side.store("arest", range(WAITING), seconds=LONG)
    bells.forget()
    with stage.crew(directory, side.workers(PROCESSES)):
        bells.wait(WAITING)
        asked: dict[int, float] = {}
        for n, job_id in enumerate(ids[:CANCELLED]):
            asked[n] = time.time()
            cancel(job_id, tenant_id=EVERY_TENANT)
            time.sleep(EVERY)
        side.store("arest", range(WAITING, WAITING + LIMITED), timeout=LIMIT, seconds=LONG)
        wait_until(lambda: len(_moments("end")) >= CANCELLED + LIMITED, "all that is stopped has ended")
    begun, ended = _moments("begin"), _moments("end")
    late = [ended[n] - begun[n] - LIMIT for n in range(WAITING, WAITING + LIMITED)]
    return _shown(CANCEL, [ended[n] - moment for n, moment in asked.items()]) | _shown(LATE, late)


def _moments(event: str) -> dict[int, float]:
    """When each body began, or ended, by its number."""
    return {int(n): moment for moment, (what, _, n) in bells.heard() if what == event}


def _shown(name: str, seconds: list[float]) -> Figures:
    steps = quantiles(seconds, n=100, method="inclusive")
    return {name.format("p50"): {"ours": steps[49] * 1000}, name.format("p99"): {"ours": steps[98] * 1000}}
