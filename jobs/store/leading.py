"""The clock: which one leads, whether it still does, and how it is woken."""

from datetime import UTC, datetime

from jobs.store.rows import rows


def lead() -> bool:
    """Take the lead for as long as this session lasts, and hear `wake_clock`; False if another clock has it."""
    if not rows("lead")[0][0]:
        return False
    rows("listen")
    return True


def depose(silent: float) -> bool:
    """End the session of a leading clock that has said nothing for so many seconds; whether there was one."""
    return bool(rows("depose", silent=silent))


def wake_clock() -> None:
    """Tell the leader, when this transaction commits, that something is due at a moment of its own."""
    rows("wake_clock")


def database_now() -> datetime:
    """PostgreSQL's clock, in UTC."""
    return datetime.fromtimestamp(database_time(), UTC)


def database_time() -> float:
    """PostgreSQL's clock, in seconds: to see whether it goes as ours does."""
    seconds: float = rows("database_time")[0][0]
    return seconds
