"""light_pickup: the wait of a light tenant in a light pool, while ten others have more jobs waiting than its 200 seats.

The others' bodies wait for 0.1 s, so that 2,000 jobs end each second, in batches. The light tenant submits such a job
regularly. It cannot start before a seat is free; the feeder causes the wait beyond that moment.
"""

import time
from bisect import bisect_left
from pathlib import Path
from statistics import quantiles

from benchmarks import bells, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.light import Light
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
    with stage.playing(directory, "worker", side.worker(PROCESSES)):
        bells.wait(1)
        time.sleep(WARM)
        since = time.monotonic()
        while time.monotonic() < since + WINDOW:
            submitted.append(time.time())
            light.async_.arest(len(submitted) - 1, seconds=SECONDS)
            time.sleep(EVERY)
        begun: dict[int, float] = {}

        def all_have_begun() -> bool:
            mine = (ring for ring in bells.heard() if ring.words[:2] == ("begin", str(light.tenant_id)))
            begun.update({int(ring.words[2]): ring.moment for ring in mine})
            return len(begun) == len(submitted)

        wait_until(all_have_begun, "the light tenant's jobs begin")
    ends = sorted(moment for moment, (what, *_) in bells.heard() if what == "end")
    waits = [(begun[n] - moment) * 1000 for n, moment in enumerate(submitted)]
    beyond = [(begun[n] - ends[bisect_left(ends, moment)]) * 1000 for n, moment in enumerate(submitted)]
    rate = (bisect_left(ends, submitted[-1]) - bisect_left(ends, submitted[0])) / (submitted[-1] - submitted[0])
    figures = {ENDS: rate, MEDIAN: quantiles(waits, n=100)[49], TAIL: quantiles(waits, n=100)[94]}
    return {what: {"ours": value} for what, value in (figures | {BEYOND: quantiles(beyond, n=100)[94]}).items()}
