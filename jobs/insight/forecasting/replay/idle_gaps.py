"""Estimate from the record how long a process is idle between two attempts, and from a claim to the start."""

from collections.abc import Collection, Iterable
from itertools import pairwise
from statistics import fmean

from jobs.allocation.world import IdleGaps
from jobs.insight.forecasting.runs import TimedAttempt

HANDOVER, BETWEEN = 0.02, 0.015  # seconds, while the record has too few
ENOUGH = 20  # the least gaps to estimate from
OFTEN = 0.95  # the part of them that counts: in the longest ones a limit held the next job back


def idle_gaps(past: Iterable[TimedAttempt], light: Collection[int] = ()) -> IdleGaps:
    """Return the mean idle gaps of these attempts in ordinary pools.

    The gap between two attempts of a process counts if the second job was in line when the first one ended.

    light: the ids of the queues of light pools. Many of their attempts run in a process at once: they tell no gaps
    """
    handovers: list[float] = []
    of_process: dict[int, list[TimedAttempt]] = {}
    for attempt in past:
        if attempt.started_at is not None and attempt.ended_at is not None and attempt.queue_id not in light:
            if attempt.claimed_at is not None and attempt.claimed_at < attempt.started_at:
                handovers.append(attempt.started_at - attempt.claimed_at)
            if attempt.process is not None:
                of_process.setdefault(attempt.process, []).append(attempt)
    handover = _mean(handovers) if len(handovers) >= ENOUGH else HANDOVER
    gaps = [gap for attempts in of_process.values() for gap in _gaps(attempts)]
    between = _mean(gaps) - handover if len(gaps) >= ENOUGH else BETWEEN
    return IdleGaps(between=max(between, 0.0), handover=handover)


def _gaps(attempts: list[TimedAttempt]) -> Iterable[float]:
    """Yield the seconds between two attempts of a process.

    Left out are jobs that followed in a slot, and gaps in which the process had to wait for work.
    """
    attempts.sort(key=lambda attempt: attempt.started_at or 0.0)
    for before, attempt in pairwise(attempts):
        ended, started, claimed, ready = (
            before.ended_at or 0.0,
            attempt.started_at or 0.0,
            attempt.claimed_at,
            attempt.ready_at,
        )
        if ready is not None and claimed is not None and ready <= ended <= claimed < started:
            yield started - ended


def _mean(seconds: list[float]) -> float:
    """Return the mean without the longest 5 %. Gaps add up, so the median would be too low."""
    return fmean(sorted(seconds)[: max(int(len(seconds) * OFTEN), 1)])
