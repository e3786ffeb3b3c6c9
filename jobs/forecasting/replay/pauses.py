"""What a process needs between two attempts, and from a claim to its start, as the record tells it."""

from collections.abc import Iterable
from itertools import pairwise
from statistics import median

from jobs.allocation.world import Pauses
from jobs.forecasting.quantiles import quantile
from jobs.forecasting.replay.record import Past

HANDOVER, BETWEEN = 0.02, 0.015  # seconds, while the record tells none
ENOUGH = 20  # gaps that tell something
OF_GAPS = 0.5


def pauses(past: Iterable[Past]) -> Pauses:
    """between: of the gaps in which the next job stood in line already when its process was done with another."""
    handovers: list[float] = []
    of_process: dict[int, list[Past]] = {}
    for one in past:
        if one.started_at is not None and one.ended_at is not None:
            if one.claimed_at is not None and one.claimed_at < one.started_at:
                handovers.append(one.started_at - one.claimed_at)
            if one.process is not None:
                of_process.setdefault(one.process, []).append(one)
    handover = median(handovers) if len(handovers) >= ENOUGH else HANDOVER
    gaps = [gap for found in of_process.values() for gap in _gaps(found)]
    between = quantile(gaps, OF_GAPS) - handover if len(gaps) >= ENOUGH else BETWEEN
    return Pauses(between=max(between, 0.0), handover=handover)


def _gaps(attempts: list[Past]) -> Iterable[float]:
    """Not those in which it followed in a slot, nor those in which the process had to wait for work."""
    attempts.sort(key=lambda one: one.started_at or 0.0)
    for before, one in pairwise(attempts):
        ended, started, claimed = before.ended_at or 0.0, one.started_at or 0.0, one.claimed_at
        if one.ready_at <= ended <= started and claimed is not None and ended <= claimed < started:
            yield started - ended
