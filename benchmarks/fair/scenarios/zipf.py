"""Ten tenants always have jobs waiting, a few of them most of all: does each get its share of the workers' time?"""

import random
import time
from itertools import chain

from .. import history
from ..scene import BULK, Figures, Scene

WORDS = (
    "Ten tenants have jobs waiting all the time; the first has the most, after Zipf (1.1). The bodies of each have a "
    "length of their own, from 50 to 400 ms. Ten run at once, at most five of a tenant."
)
WORKERS, AT_ONCE, SLOTS, TENANTS = 2, 5, 5, 10
ZIPF, JOBS, PLENTY = 1.1, 2000, 2  # the last: the least backlog of a tenant, as a multiple of its share
SHORTEST, LONGEST = 0.05, 0.4  # seconds of a body
WARM, WINDOW = 1.0, 10.0  # seconds


def play(scene: Scene) -> Figures:
    backlogs = _backlogs()
    scene.setup(dict.fromkeys(backlogs, SLOTS))
    scene.start(WORKERS, AT_ONCE)
    for tenant, seconds in _mixed(backlogs):
        scene.submit(tenant, seconds)
    time.sleep(WARM)
    meter, begin = scene.meter(), time.monotonic()
    time.sleep(WINDOW * scene.scale)
    used, end = meter.read(), time.monotonic()
    shares = history.seconds(scene.runs(), begin, end, backlogs)
    return {
        **scene.bounds(),
        "jain": history.jain(shares.values()),
        "busy": sum(shares.values()) / (scene.asked_at_once * (end - begin)),
        "least_s": min(shares.values()),
        "most_s": max(shares.values()),
        **used,
    }


def _backlogs() -> dict[str, list[float]]:
    """Seconds of the bodies of each tenant."""
    lengths = [SHORTEST * (LONGEST / SHORTEST) ** (n / (TENANTS - 1)) for n in range(TENANTS)]
    random.Random(1).shuffle(lengths)  # noqa: S311
    parts = [(rank + 1) ** -ZIPF for rank in range(TENANTS)]
    share = WORKERS * AT_ONCE / TENANTS * (WARM + WINDOW)
    return {
        f"tenant{n}": [length] * max(int(JOBS * part / sum(parts)), int(PLENTY * share / length))
        for n, (length, part) in enumerate(zip(lengths, parts, strict=True))
    }


def _mixed(backlogs: dict[str, list[float]]) -> list[tuple[str, list[float]]]:
    """The backlogs in parts of a few jobs, in any order: as they come, not tenant by tenant."""
    few = BULK // 10
    parts = chain.from_iterable(
        [(tenant, seconds[begin : begin + few]) for begin in range(0, len(seconds), few)]
        for tenant, seconds in backlogs.items()
    )
    mixed = list(parts)
    random.Random(2).shuffle(mixed)  # noqa: S311
    return mixed
