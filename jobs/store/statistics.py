"""Statistics: count the log of attempts into minutes, hours and totals; sample what is under way."""

from datetime import datetime

from jobs.statistics import BOUNDS
from jobs.store.rows import rows


def begin_task(task: str, reach: float, now: datetime | None = None) -> tuple[datetime, datetime]:
    """Lock a task of the recorder for this transaction; return the moment it has recorded up to, and the time now.

    reach: the most seconds to look back after a pause.
    """
    ((upto, now),) = rows("begin_task", task=task, reach=reach, now=now)
    return upto, now


def end_task(task: str, upto: datetime) -> None:
    """Note the moment that the task has recorded up to."""
    rows("end_task", task=task, upto=upto)


def record_minutes(starts: datetime, ends: datetime) -> None:
    """Count the attempts that ended in these minutes, of all tenants; correct the totals by the difference."""
    rows("record_minutes", starts=starts, ends=ends, bounds=list(BOUNDS))


def record_hours(starts: datetime, ends: datetime) -> None:
    """Count the attempts that ended in these hours, by tenant."""
    rows("record_hours", starts=starts, ends=ends, bounds=list(BOUNDS))


def record_sample(now: datetime | None = None) -> None:
    """Note what is under way, once in this minute."""
    rows("record_sample", now=now)


def forget_samples(moment: datetime) -> None:
    """Delete the samples from before this moment."""
    rows("forget_samples", moment=moment)
