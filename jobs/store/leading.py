"""The leading clock: take the lead, depose a silent leader, clear the door, wake the leader."""

from contextlib import suppress
from datetime import UTC, datetime

from django.db import InterfaceError, OperationalError

from jobs.store import clock
from jobs.store.rows import rows


def lead() -> bool:
    """Take the lead for as long as this session lasts, and listen to `wake_clock`; False if another clock leads."""
    if not rows("lead")[0][0]:
        return False
    rows("listen")
    return True


def depose(silent: float) -> bool:
    """End the session of a leading clock that was silent for so many seconds; return whether there was one."""
    return bool(rows("depose", silent=silent))


def clear_door(silent: float) -> bool:
    """End the sessions that hold the door, and whose clients were silent for so many seconds.

    Return whether there was one.
    """
    return bool(rows("clear_door", silent=silent))


def wake_clock() -> None:
    """Tell the leader that a new moment is due; for callers outside of a transaction.

    The leader looks each second anyway, so a session that is lost here is no error.
    """
    with suppress(OperationalError, InterfaceError):
        rows("wake_clock")


def database_now() -> datetime:
    """Return the time of PostgreSQL's clock, in UTC."""
    return clock.moment() or datetime.fromtimestamp(database_time(), UTC)


def database_time() -> float:
    """Return the time of PostgreSQL's clock in seconds, for a comparison with ours."""
    seconds: float = rows("database_time")[0][0]
    return seconds
