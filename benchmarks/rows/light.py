"""light: the waiting time of a light tenant, while all others have more jobs waiting than can run.

The others are those of the row `fairness`. The light tenant regularly submits a job of 10 ms. The job cannot start
before a process is free; the dispatch causes the wait beyond that moment.
"""

import time
from bisect import bisect_left
from pathlib import Path
from statistics import quantiles

from benchmarks import bells, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.ours import Ours
from benchmarks.rows import fairness
from jobs.allocation.order import SLICE
from tests.waiting import wait_until

EVERY, WARM, WINDOW = 0.3, 15.0, 40.0  # seconds; the first round of all takes ten
BEYOND = "wait beyond the next free process, p95 ms"
MEDIAN, TAIL = "wait, p50 ms", "wait, p95 ms"

BARS = [Bar(of=(BEYOND, "ours"), at_most=SLICE * 1000)]


def measure(directory: Path) -> Figures:
    """The figures in milliseconds."""
    ours = Ours()
    fairness.prepare(ours, tenants=fairness.TENANTS + 1)
    light = ours.things[-1]
    submitted: list[float] = []
    bells.forget()
    with stage.playing(directory, ours.name, ours.worker(fairness.PROCESSES)):
        bells.wait(1)
        time.sleep(WARM)
        until = time.monotonic() + WINDOW
        while time.monotonic() < until:
            submitted.append(time.time())
            light.async_.rest(len(submitted) - 1, seconds=fairness.SHORTEST)
            time.sleep(EVERY)
        begun: dict[int, float] = {}

        def all_have_begun() -> bool:
            for moment, (what, tenant, n) in bells.heard():
                if what == "begin" and int(tenant) == light.tenant_id:
                    begun[int(n)] = moment
            return len(begun) == len(submitted)

        wait_until(all_have_begun, "the light tenant's jobs begin")
    ends = sorted(moment for moment, (what, *_) in bells.heard() if what == "end")
    waits = [(begun[n] - moment) * 1000 for n, moment in enumerate(submitted)]
    beyond = [(begun[n] - ends[bisect_left(ends, moment)]) * 1000 for n, moment in enumerate(submitted)]
    return {
        MEDIAN: {ours.name: quantiles(waits, n=100)[49]},
        TAIL: {ours.name: quantiles(waits, n=100)[94]},
        BEYOND: {ours.name: quantiles(beyond, n=100)[94]},
    }
