"""fairness: worker-seconds of tenants that always have jobs waiting, with different numbers and lengths of jobs.

A Zipf mix (the r-th tenant has r ** -1.1 of the backlog) of run times from 10 ms to 2 s; then weights 3 and 1.
It counts the seconds of bodies within the window, as the bodies report them.
"""

import random
from collections import Counter
from pathlib import Path

from benchmarks import bells, databases, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.ours import Ours
from jobs import submit_many
from tests.waiting import wait_until

TENANTS, PROCESSES, WINDOW = 50, 4, 70.0  # seconds
ZIPF, JOBS = 1.1, 20_000
SHORTEST, LONGEST = 0.010, 2.0  # seconds of a body
FREE_SLOTS = 10 * PROCESSES  # of the weighted tenants: a tenant at its limit cannot take its share
PLENTY = 4  # the least backlog of a tenant, as a multiple of its fair share
WEIGHTS, WEIGHED, RUN_TIME = (3, 1), 25.0, 0.05  # seconds of window and body

JAIN, LEAST, MOST = "Jain's index", "worker-s of the least served", "worker-s of the most served"
RATIO, BUSY = "worker-s, weight 3 / weight 1", "processes busy with bodies"

BARS = [
    Bar(of=(JAIN, "ours"), at_least=0.985),
    Bar(of=(RATIO, "ours"), at_least=2.91, at_most=3.09),
]


def measure(directory: Path) -> Figures:
    """The mix, then the weights."""
    ours = Ours()
    prepare(ours)
    served = [*_served(ours, directory, WINDOW).values()]
    served += [0.0] * (TENANTS - len(served))
    figures = {
        JAIN: sum(served) ** 2 / (TENANTS * sum(second**2 for second in served)),
        LEAST: min(served),
        MOST: max(served),
        BUSY: sum(served) / (PROCESSES * WINDOW),
    }
    databases.empty()
    ours.prepare(tenants=len(WEIGHTS), slots=FREE_SLOTS, weights=list(WEIGHTS))
    for place in range(len(WEIGHTS)):
        _backlog(ours, place, RUN_TIME, int(PLENTY * PROCESSES * WEIGHED / RUN_TIME / 2))
    weighed = _served(ours, directory, WEIGHED)
    heavy, light = (weighed[tenant.pk] for tenant in ours.tenants)
    figures[RATIO] = heavy / light
    return {what: {"ours": value} for what, value in figures.items()}


def prepare(ours: Ours, tenants: int = TENANTS) -> None:
    """Create the mix; further tenants have no jobs."""
    ours.prepare(tenants=tenants, slots=PROCESSES)
    for place, (seconds, count) in enumerate(_mix()):
        _backlog(ours, place, seconds, count)


def _mix() -> list[tuple[float, int]]:
    """Seconds of a body and jobs waiting, tenant by tenant."""
    run_times = [SHORTEST * (LONGEST / SHORTEST) ** (n / (TENANTS - 1)) for n in range(TENANTS)]
    random.Random(1).shuffle(run_times)  # noqa: S311 - the same in every run
    parts = [(rank + 1) ** -ZIPF for rank in range(TENANTS)]
    share = PROCESSES * WINDOW / TENANTS
    return [
        (seconds, max(int(JOBS * part / sum(parts)), int(PLENTY * share / seconds) + PROCESSES))
        for seconds, part in zip(run_times, parts, strict=True)
    ]


def _backlog(ours: Ours, place: int, seconds: float, count: int) -> None:
    thing = ours.things[place]
    submit_many(thing.async_.rest.request(n, seconds=seconds) for n in range(count))


def _served(ours: Ours, directory: Path, window: float) -> Counter[int]:
    """Seconds of bodies by tenant id, in a window that begins with the first body."""
    bells.forget()
    with stage.playing(directory, ours.name, ours.worker(PROCESSES)):
        bells.wait(1)
        begin = bells.heard()[0].moment
        end = begin + window
        wait_until(lambda: bells.heard()[-1].moment > end, "the window ends", window + 30)
    return bells.seconds_in_bodies(begin, end)
