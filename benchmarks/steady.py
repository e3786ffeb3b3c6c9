"""What one claim of one job costs while as much ends as begins."""

import time
from collections import deque
from collections.abc import Callable
from statistics import median

from benchmarks import finishing
from jobs import store
from jobs.store import Claimed

PROCESSES = 8
WARM, SHORTEST = 10, 1.0  # claims that only plan and fill caches, and seconds after which they need not
MOST, LONGEST = 200, 2.5  # claims, and seconds for them: a slow one is known after few
FEWEST = 5


def cost(occupied: int = 0) -> float:
    """Milliseconds of `store.claim`, the median: before each, outside of what is timed, one job ends.

    occupied: processes that have a job already, and keep it. Leaves the pool as it found it: what it claimed has
    ended, its worker has no processes.
    """
    finishing.register(PROCESSES + occupied)
    held: deque[Claimed] = deque(_claim(1)[1])
    milliseconds = typical(lambda: _turn(held))
    finishing.finish_all(held)
    finishing.register(0)
    return milliseconds


def typical(turn: Callable[[], float]) -> float:
    """Milliseconds, the median of many turns, each of which says its seconds."""
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
    """One pass of a worker with so many processes, which has none afterwards."""
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
        raise AssertionError(f"{len(claimed)} jobs were claimed, where {least} could have been")
    return seconds, list(claimed)
