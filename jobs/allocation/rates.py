"""Token buckets: `allowed` tokens that refill evenly over `seconds`, kept as the moment when the bucket will be full.

The generic cell rate algorithm, as the functions rate_* of the database compute it (docs/adr/0008). Moments: seconds.
"""

from math import floor

FORGIVEN = 0.0000005  # seconds; moments are rounded to whole microseconds


def full(seconds: float, full_at: float | None, now: float) -> float | None:
    """When it is full. One that would be so only after two windows was spent under a slower limit, and begins anew."""
    return full_at if full_at is not None and full_at - now < 2 * seconds else None


def tokens(allowed: int, seconds: float, full_at: float | None, now: float) -> int:
    """The tokens in it."""
    full_at = full(seconds, full_at, now)
    missing = 0.0 if full_at is None else max(full_at - now - FORGIVEN, 0.0)
    return floor(allowed - missing * allowed / seconds)


def after(allowed: int, seconds: float, full_at: float | None, now: float, n: int) -> float:
    """When it will be full after n further tokens."""
    return round((now if full_at is None else max(full_at, now)) + n * seconds / allowed, 6)


def next_at(allowed: int, seconds: float, full_at: float) -> float:
    """When it has a token again."""
    return round(full_at - (allowed - 1) * seconds / allowed, 6)
