"""What a running method may raise to say how its attempt ends."""

LONGEST = 366 * 24 * 3600.0  # seconds


class TenantError(Exception):
    """`raise TenantError("There is no such region.")`: a failure whose text its tenant reads; of others, the class.

    Derive from it what you raise for people.
    """


class Abandon(TenantError):
    """`raise Abandon("why")`: no retry will help. The job is dead, whatever its policy says."""


class RetryLater(Exception):
    """`raise RetryLater(30)`: run me again in so many seconds. No failure, and no retry is spent.

    Raises ValueError for what is not a number of seconds, or is more than 366 days.
    """

    def __init__(self, seconds: float) -> None:
        number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
        if not number or not 0 <= seconds <= LONGEST:  # nan lies nowhere
            raise ValueError(f"RetryLater takes a number of seconds from 0 to {LONGEST:.0f}, not {seconds!r}")
        super().__init__(f"again in {seconds:g} s")
        self.seconds = float(seconds)


class Cancelled(Exception):
    """Raised by `check_cancelled()` in a job that was asked to stop; let it pass."""
