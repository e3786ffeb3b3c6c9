"""The clock of the statements: the database's, unless `jobs.contrib.testing` sets another one."""

from collections.abc import Callable
from datetime import datetime

Clock = Callable[[], datetime | None]  # None: the database's time, as without a clock

_clock: Clock | None = None


def follow(clock: Clock | None) -> Clock | None:
    """Let statements take the time from this clock, or from the database's (None); return the previous one."""
    global _clock
    previous, _clock = _clock, clock
    return previous


def moment() -> datetime | None:
    """Return the moment to pass to a statement as `now`; None: the statement reads the database's clock."""
    return None if _clock is None else _clock()
