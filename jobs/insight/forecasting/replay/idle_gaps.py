"""Estimate from the record how long a process pauses between two attempts, and from a claim to the start."""

from collections.abc import Iterable
from itertools import pairwise
from statistics import fmean

from jobs.allocation.world import Pauses
from jobs.insight.forecasting.runs import Attempt

HANDOVER, BETWEEN = 0.02, 0.015  # seconds, while the record has too few
ENOUGH = 20  # the least pauses to estimate from
OFTEN = 0.95  # the part of them that counts: in the longest ones a limit held the next job back


def pauses(past: Iterable[Attempt]) -> Pauses:
    """Return the mean pauses of these attempts.

    The pause between two attempts of a process counts if the second job was in line when the first one ended.
    """
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
    """Yield the seconds between two attempts of a process.

    Left out are jobs that followed in a slot, and pauses in which the process had to wait for work.
    """
    attempts.sort(key=lambda one: one.started_at or 0.0)
    for before, one in pairwise(attempts):
        ended, started, claimed, ready = before.ended_at or 0.0, one.started_at or 0.0, one.claimed_at, one.ready_at
        if ready is not None and claimed is not None and ready <= ended <= claimed < started:
            yield started - ended


def _mean(seconds: list[float]) -> float:
    """Return the mean without the longest 5 %. Pauses add up, so the median would be too low."""
    return fmean(sorted(seconds)[: max(int(len(seconds) * OFTEN), 1)])
