"""light: the waiting time of a light tenant, while all others have more jobs waiting than can run.

The others are those of the row `fairness`: first in an ordinary pool, then in pools of both kinds. The light tenant
regularly submits a job of 10 ms, to the pools in turn. The job cannot start before a process, or a seat, of its pool is
free; the dispatch causes the wait beyond that moment.
"""

import time
from bisect import bisect_left
from itertools import cycle
from pathlib import Path
from statistics import quantiles

from benchmarks import bells, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.ours import Ours
from benchmarks.contenders.two_kinds import TwoKinds
from benchmarks.rows import fairness
from benchmarks.rows.fairness import LIGHT, ORDINARY, Kind
from jobs import async_
from jobs.allocation.order import SLICE
from tests.waiting import wait_until

EVERY, WARM, WINDOW = 0.3, 15.0, 40.0  # seconds; the first round of all takes ten
BEYOND = {
    ORDINARY: "wait beyond the next free process, p95 ms",
    LIGHT: "wait beyond the next free seat, p95 ms",
}
MEDIAN, TAIL = "wait, {} pool, p50 ms", "wait, {} pool, p95 ms"

BARS = [
    Bar(of=(BEYOND[kind], side.name), at_most=SLICE * 1000)
    for side, (kinds, _) in fairness.SIDES.items()
    for kind in kinds
]


def measure(directory: Path) -> Figures:
    """The figures in milliseconds."""
    figures: Figures = {}
    for side in (Ours(), TwoKinds()):
        for what, value in _waits(side, directory).items():
            figures.setdefault(what, {})[side.name] = value
    return figures


def _waits(side: Ours, directory: Path) -> dict[str, float]:
    kinds, _ = fairness.SIDES[type(side)]
    fairness.prepare(side, tenants=fairness.TENANTS + 1)
    light = side.things[-1]
    submitted: dict[int, float] = {}
    bells.forget()
    with stage.crew(directory, side.workers(fairness.PROCESSES)):
        bells.wait(1)
        time.sleep(WARM)
        until = time.monotonic() + WINDOW
        for kind in cycle(kinds):
            if time.monotonic() > until:
                break
            n = kind.first + len(submitted)
            submitted[n] = time.time()
            async_(getattr(light, kind.method), queue=kind.queue)(n, seconds=fairness.SHORTEST)
            time.sleep(EVERY)
        begun: dict[int, float] = {}

        def all_have_begun() -> bool:
            mine = (ring for ring in bells.heard() if ring.words[:2] == ("begin", str(light.tenant_id)))
            begun.update({int(ring.words[2]): ring.moment for ring in mine})
            return len(begun) == len(submitted)

        wait_until(all_have_begun, "the light tenant's jobs begin")
    figures: dict[str, float] = {}
    for kind in kinds:
        figures |= _figures(kind, {n: moment for n, moment in submitted.items() if n in kind.numbers}, begun)
    return figures


def _figures(kind: Kind, submitted: dict[int, float], begun: dict[int, float]) -> dict[str, float]:
    ends = sorted(moment for moment, (what, _, n) in bells.heard() if what == "end" and int(n) in kind.numbers)
    waits = [(begun[n] - moment) * 1000 for n, moment in submitted.items()]
    beyond = [(begun[n] - ends[bisect_left(ends, moment)]) * 1000 for n, moment in submitted.items()]
    return {
        MEDIAN.format(kind.name): quantiles(waits, n=100)[49],
        TAIL.format(kind.name): quantiles(waits, n=100)[94],
        BEYOND[kind]: quantiles(beyond, n=100)[94],
    }
