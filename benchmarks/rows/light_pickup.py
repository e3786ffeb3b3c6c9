"""light_pickup: the wait of a light tenant in a light pool, while ten others have more jobs waiting than its 200 seats.

The others' bodies wait for 0.1 s, so that 2,000 jobs end each second, in batches. The light tenant submits such a job
regularly. It cannot start before a seat of its pool is free; the feeder causes the wait beyond that moment. With
THOROUGH, the light tenant's jobs that fail at first are left out: they wait for their retry.
"""

import time
from bisect import bisect_left
from collections import defaultdict
from pathlib import Path
from statistics import quantiles

from benchmarks import POOL, bells, mix, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.light import Light
from jobs import submit_many
from tests.waiting import wait_until

TENANTS, SLOTS, SEATS, PROCESSES = 10, 20, 100, 2
SECONDS = 0.1  # of a body
EVERY, WARM, WINDOW = 0.1, 3.0, 12.0  # seconds
COUNT = int(1.4 * TENANTS * SLOTS * (WARM + WINDOW) / SECONDS)  # jobs of the others: more than run

BEYOND, MEDIAN, TAIL = "wait beyond the next free seat, p95 ms", "wait, p50 ms", "wait, p95 ms"
ENDS = "ends/s of the others"

BARS = [Bar(of=(BEYOND, "ours"), at_most=100, goal=50)]


def measure(directory: Path) -> Figures:
    """The figures in milliseconds."""
    side = Light(TENANTS + 1, SLOTS, SEATS)
    side.prepare()
    light = side.things.pop()
    side.store("arest", range(COUNT), seconds=SECONDS)
    submitted: list[float] = []
    bells.forget()
    with stage.crew(directory, side.workers(PROCESSES)):
        bells.wait(1)
        time.sleep(WARM)
        since = time.monotonic()
        while time.monotonic() < since + WINDOW:
            n = len(submitted)
            submitted.append(time.time())
            submit_many([side.request(light, "arest", n, turn=n, seconds=SECONDS)])
            time.sleep(EVERY)
        begun: dict[int, float] = {}

        def all_have_begun() -> bool:
            mine = (ring for ring in bells.heard() if ring.words[:2] == ("begin", str(light.tenant_id)))
            begun.update({int(ring.words[2]): ring.moment for ring in mine})
            return len(begun) == len(submitted)

        wait_until(all_have_begun, "the light tenant's jobs begin")
    ends: defaultdict[str, list[float]] = defaultdict(list)  # by pool
    for moment, (what, tenant, n) in sorted(bells.heard()):
        if what == "end":
            ends[_pool(side, int(n) if int(tenant) == light.tenant_id else int(n) // TENANTS)].append(moment)
    judged = [n for n in range(len(submitted)) if not (side.mixed and mix.fails(n))]
    waits = [(begun[n] - submitted[n]) * 1000 for n in judged]
    beyond = [(begun[n] - _next(ends[_pool(side, n)], submitted[n])) * 1000 for n in judged]
    count = sum(bisect_left(moments, submitted[-1]) - bisect_left(moments, submitted[0]) for moments in ends.values())
    figures = {ENDS: count / (submitted[-1] - submitted[0]), MEDIAN: quantiles(waits, n=100)[49]}
    figures |= {TAIL: quantiles(waits, n=100)[94], BEYOND: quantiles(beyond, n=100)[94]}
    return {what: {"ours": value} for what, value in figures.items()}


def _pool(side: Light, turn: int) -> str:
    return mix.pool(turn) if side.mixed else POOL


def _next(moments: list[float], moment: float) -> float:
    """The first of these moments from that one on."""
    return moments[bisect_left(moments, moment)]
