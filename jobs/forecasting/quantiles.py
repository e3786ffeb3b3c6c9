"""Quantiles of a few draws."""

from collections.abc import Sequence
from math import inf


def quantile(draws: Sequence[float], q: float) -> float:
    """The value that a further draw stays below with probability q: at (n + 1) · q of n draws; infinity if one is near.

    Beyond the last draw it is the last one. Raises ValueError if there are no draws.
    """
    if not draws:
        raise ValueError("a quantile needs draws")
    ordered = sorted(draws)
    rank = min(max((len(ordered) + 1) * q, 1.0), float(len(ordered)))
    below = int(rank)
    part = rank - below
    low = ordered[below - 1]
    if not part or low == inf:
        return low
    high = ordered[below]
    return inf if high == inf else low + part * (high - low)
