"""Part of the row claim: the seed's design, as published and with the obvious index."""

import time
from collections import deque

from benchmarks.bars import Figures
from benchmarks.contenders import seed
from benchmarks.steady import PROCESSES, typical

SLOTS = 20


def measure(contender: seed.Seed, sizes: tuple[int, ...]) -> Figures:
    """Milliseconds of one claim at each backlog."""
    figures: Figures = {f"{size:,} waiting": {} for size in sizes}
    for name, indexed in (("seed", False), ("indexed", True)):
        contender.prepare(slots=SLOTS)
        if indexed:
            seed.index()
        there = 0
        for size in sizes:
            contender.fill(size - there)
            there = size
            figures[f"{size:,} waiting"][name] = _cost()
    return figures


def _cost() -> float:
    held = deque(seed.claim() for _ in range(PROCESSES))
    milliseconds = typical(lambda: _turn(held))
    for job_id in held:
        seed.execute(seed.SUCCEED, job_id)
    return milliseconds


def _turn(held: deque[int | None]) -> float:
    seed.execute(seed.SUCCEED, held.popleft())
    begun = time.perf_counter()
    held.append(seed.claim())
    return time.perf_counter() - begun
