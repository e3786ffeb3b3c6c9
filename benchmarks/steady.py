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


def cost(occupied: int = 0) -> float:
    """The median milliseconds of `store.claim`. Before each claim, outside the measured time, one job ends.

    occupied: processes that keep a job. Afterwards the pool is as before: the claimed jobs have ended, and the worker
    has no processes.
    """
    finishing.register(PROCESSES + occupied)
    held: deque[Claimed] = deque(_claim(1)[1])
    milliseconds = typical(lambda: _turn(held))
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
    """One pass for a worker with so many processes, which has none afterwards."""
    finishing.register(concurrency)
    claimed = _claim(1)[1]
    finishing.register(0)
    return claimed


def _turn(held: deque[Claimed]) -> float:
    finishing.finish(held.popleft())
    seconds, claimed = _claim(1)
    held.extend(claimed)
    return seconds


def _claim(least: int) -> tuple[float, list[Claimed]]:
    begun = time.perf_counter()
    claimed = store.claim()
    seconds = time.perf_counter() - begun
    if len(claimed) < least:
        raise AssertionError(f"The pass claimed {len(claimed)} jobs, but {least} could start")
    return seconds, list(claimed)
