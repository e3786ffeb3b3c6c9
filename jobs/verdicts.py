"""What a running method may raise to say how its attempt ends."""

import math


class Abandon(Exception):
    """`raise Abandon("why")`: no retry will help. The job is dead, whatever its policy says."""


class RetryLater(Exception):
    """`raise RetryLater(30)`: run me again in so many seconds. No failure, and no retry is spent.

    Raises ValueError for what is not a number of seconds.
    """

    def __init__(self, seconds: float) -> None:
        if (
            isinstance(seconds, bool)
            or not isinstance(seconds, (int, float))
            or not math.isfinite(seconds)
            or seconds < 0
        ):
            raise ValueError(f"RetryLater takes a number of seconds, not {seconds!r}")
        super().__init__(f"again in {seconds:g} s")
        self.seconds = float(seconds)


class Cancelled(Exception):
    """Raised by `check_cancelled()` in a job that was asked to stop; let it pass."""
