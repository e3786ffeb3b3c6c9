"""What a process needs between two attempts, and from a claim to its start, as the record tells it."""

from collections.abc import Iterable
from itertools import pairwise
from statistics import fmean

from jobs.allocation.world import Pauses
from jobs.forecasting.runs import Attempt

HANDOVER, BETWEEN = 0.02, 0.015  # seconds, while the record tells none
ENOUGH = 20  # gaps that tell something
OFTEN = 0.95  # of them: the longest are of processes whose next job was held back by a limit


def pauses(past: Iterable[Attempt]) -> Pauses:
    """between: of the gaps in which the next job stood in line already when its process was done with another."""
    handovers: list[float] = []
    of_process: dict[int, list[Attempt]] = {}
    for one in past:
        if one.started_at is not None and one.ended_at is not None:
            if one.claimed_at is not None and one.claimed_at < one.started_at:
                handovers.append(one.started_at - one.claimed_at)
            if one.process is not None:
                of_process.setdefault(one.process, []).append(one)
    handover = _mean(handovers) if len(handovers) >= ENOUGH else HANDOVER
    gaps = [gap for found in of_process.values() for gap in _gaps(found)]
    between = _mean(gaps) - handover if len(gaps) >= ENOUGH else BETWEEN
    return Pauses(between=max(between, 0.0), handover=handover)


def _gaps(attempts: list[Attempt]) -> Iterable[float]:
    """Not those in which it followed in a slot, nor those in which the process had to wait for work."""
    attempts.sort(key=lambda one: one.started_at or 0.0)
    for before, one in pairwise(attempts):
        ended, started, claimed, ready = before.ended_at or 0.0, one.started_at or 0.0, one.claimed_at, one.ready_at
        if ready is not None and claimed is not None and ready <= ended <= claimed < started:
            yield started - ended


def _mean(seconds: list[float]) -> float:
    """Not the median: what a process loses between attempts adds up. Without the longest."""
    return fmean(sorted(seconds)[: max(int(len(seconds) * OFTEN), 1)])
