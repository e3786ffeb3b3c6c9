"""A hundred tenants always have jobs waiting, a few of them most of all: does each get its share of the time?"""

import math
import random
import time
from collections import Counter
from itertools import chain

from .. import history
from ..scene import BULK, Figures, Scene

WORDS = (
    "100 tenants have jobs waiting all the time; the first has the most, after Zipf (1.1). Each body has a length of "
    "its own, from 10 ms to 2 s, drawn evenly on a logarithmic scale. 50 run at once, at most four of a tenant, and 25 "
    "seconds are counted. With these jobs a scheduler that always takes the least served tenant, but cannot know how "
    "long a job will be, reaches a Jain's index of 0.997: it is the bound here."
)
WORKERS, AT_ONCE, SLOTS, TENANTS = 2, 25, 4, 100
ZIPF, JOBS = 1.1, 4000
SHORTEST, LONGEST = 0.01, 2.0  # seconds of a body
FULL, WARM, WINDOW = 10.0, 2.0, 25.0  # seconds; the first: until all processes of the workers run
PLENTY = 1.3  # the least backlog of a tenant, as a multiple of its share


def play(scene: Scene) -> Figures:
    jobs = backlogs()
    scene.setup(dict.fromkeys(jobs, SLOTS))
    for tenant, seconds in _mixed(jobs):
        scene.submit(tenant, seconds)
    scene.start(WORKERS, AT_ONCE, filled=True)
    time.sleep(WARM)
    meter, begin = scene.meter(), time.monotonic()
    time.sleep(WINDOW * scene.scale)
    used, end = meter.read(), time.monotonic()
    runs = scene.runs()
    shares = history.seconds(runs, begin, end, jobs)
    started = Counter(run.tenant for run in runs)
    return {
        **scene.bounds(),
        "jain": history.jain(shares.values()),
        "busy": sum(shares.values()) / (scene.asked_at_once * (end - begin)),
        "least_s": min(shares.values()),
        "most_s": max(shares.values()),
        "dry": sum(started[tenant] >= len(jobs[tenant]) for tenant in jobs),
        **used,
    }


def backlogs() -> dict[str, list[float]]:
    """Seconds of the bodies of each tenant: enough for its share by count, and by time."""
    draw = random.Random(1)  # noqa: S311
    parts = [(rank + 1) ** -ZIPF for rank in range(TENANTS)]
    share = PLENTY * WORKERS * AT_ONCE / TENANTS * (FULL + WARM + WINDOW)
    mean = (LONGEST - SHORTEST) / math.log(LONGEST / SHORTEST)
    found = {}
    for n, part in enumerate(parts):
        seconds: list[float] = []
        while len(seconds) < max(JOBS * part / sum(parts), share / mean) or sum(seconds) < share:
            seconds.append(SHORTEST * (LONGEST / SHORTEST) ** draw.random())
        found[f"tenant{n}"] = seconds
    return found


def _mixed(jobs: dict[str, list[float]]) -> list[tuple[str, list[float]]]:
    """The backlogs in parts of a few jobs, in any order: as they come, not tenant by tenant."""
    few = BULK // 10
    parts = chain.from_iterable(
        [(tenant, seconds[begin : begin + few]) for begin in range(0, len(seconds), few)]
        for tenant, seconds in jobs.items()
    )
    mixed = list(parts)
    random.Random(2).shuffle(mixed)  # noqa: S311
    return mixed
