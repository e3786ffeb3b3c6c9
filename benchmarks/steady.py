"""The cost of claiming one job while as many jobs end as begin."""

import time
from collections import deque
from collections.abc import Callable
from statistics import median

from benchmarks import finishing
from jobs import store
from jobs.store import Claimed

PROCESSES = 8
WARM, SHORTEST = 10, 1.0  # warm-up: claims, and seconds after which they stop
MOST, LONGEST = 200, 2.5  # claims, and their seconds: a slow claim needs only a few
FEWEST = 5
PATIENCE = 30.0  # seconds, after which a pass that found no lane to serve is the last


def cost(occupied: int = 0) -> float:
    """The median milliseconds of `store.claim`. Before each claim, outside the measured time, one job ends.

    occupied: processes that keep a job. Afterwards the pool is as before: the claimed jobs have ended, and the worker
    has no processes. Raises TimeoutError if one pass after the other claims nothing, and says that there is more.
    """
    finishing.register(PROCESSES + occupied)
    give_up = time.monotonic() + PATIENCE
    held: deque[Claimed] = deque()
    while len(held) < PROCESSES:
        held.extend(_claim(give_up)[1])
    milliseconds = typical(lambda: _turn(held, give_up))
    finishing.finish_all(held)
    finishing.register(0)
    return milliseconds


def typical(turn: Callable[[], float]) -> float:
    """The median milliseconds of many turns; each turn returns its seconds."""
    warm = time.monotonic() + SHORTEST
    for _ in range(WARM):
        if time.monotonic() < warm:
            turn()
    give_up = time.monotonic() + LONGEST
    times: list[float] = []
    while len(times) < MOST and (len(times) < FEWEST or time.monotonic() < give_up):
        times.append(turn())
    return median(times) * 1000


def claim_all(concurrency: int) -> list[Claimed]:
    """What one pass claims for a worker with so many processes, which has none afterwards."""
    finishing.register(concurrency)
    claimed = _claim(time.monotonic() + PATIENCE)[1]
    finishing.register(0)
    return claimed


def _turn(held: deque[Claimed], give_up: float) -> float:
    finishing.finish(held.popleft())
    seconds, claimed = _claim(give_up)
    held.extend(claimed)
    return seconds


def _claim(give_up: float) -> tuple[float, list[Claimed]]:
    """The seconds until a pass claims something, and the jobs. A pass may visit its 1,000 lanes and serve none yet."""
    begun = time.perf_counter()
    while not (done := store.claim()):
        if not done.more:
            raise AssertionError("The pass claimed nothing, but a job could start")
        if time.monotonic() > give_up:
            raise TimeoutError("No pass claims anything, though a job could start")
    return time.perf_counter() - begun, list(done)
