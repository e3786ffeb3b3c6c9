"""Quantiles of a few draws."""

from collections.abc import Sequence
from math import inf


def quantile(draws: Sequence[float], q: float) -> float:
    """Return the value that a further draw stays below with probability q: at rank (n + 1) · q of n draws.

    Between two draws it is interpolated; infinity if one of them is infinite. A rank beyond the first or last draw
    counts as that one. Raises ValueError if there are no draws.
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
