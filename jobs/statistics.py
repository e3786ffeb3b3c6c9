"""Histograms of seconds, and the percentiles that they tell. Imports nothing of Django.

A histogram has 41 buckets: below 5 ms, then each half as wide again as the one before, and from 10 hours on. Histograms
add up, percentiles do not: so the tables keep histograms, and a percentile is as exact as its bucket is wide.
"""

from collections.abc import Iterable, Sequence
from math import ceil

BOUNDS = tuple(0.005 * 1.5**n for n in range(40))  # seconds; bucket n holds BOUNDS[n - 1] <= time < BOUNDS[n]
BUCKETS = len(BOUNDS) + 1


def percentile(buckets: Sequence[int], share: float) -> float | None:
    """The seconds that this share (above 0, up to 1) of the times does not exceed; None if there are no times.

    It lies in the bucket of the exact one. For the last bucket, which has no end, it is its beginning.
    """
    rank = max(ceil(sum(buckets) * share), 1)
    below = 0
    for place, count in enumerate(buckets):
        if below + count >= rank:
            starts = BOUNDS[place - 1] if place else 0.0
            ends = BOUNDS[place] if place < len(BOUNDS) else starts
            return starts + (ends - starts) * (rank - below - 0.5) / count
        below += count
    return None


def added(histograms: Iterable[Sequence[int]]) -> list[int]:
    """The histogram of all times of these histograms."""
    return [sum(counts) for counts in zip([0] * BUCKETS, *histograms, strict=True)]
