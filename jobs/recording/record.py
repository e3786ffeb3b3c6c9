"""Record statistics: count the log of attempts, minute by minute and hour by hour. See docs/adr/0019-statistics.md.

Each count is made from the log and replaces the former one, so it may be repeated. The second count finds an attempt
whose transaction committed late, the recorder catches up after an outage, and two recorders at once do no harm.
"""

from datetime import UTC, datetime, time, timedelta

from django.db import transaction

from jobs import store
from jobs.conf import settings
from jobs.models import Recorded, Sample
from jobs.reading.health.looks import COUNTS_OF_A_MINUTE, LATE
from jobs.reading.statistics import BOUNDS
from jobs.reading.usage import first_open, midnight
from jobs.recording import statements
from jobs.store import partitions
from jobs.store.rows import rows

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
HOURS, LAST_HOURS = "hours", "last hours"  # tasks: soon after the end of an hour, and before its log is dropped
FOREVER = 3650 * DAY.total_seconds()  # hours are counted after any pause of the recorder: tenants are billed by them
BATCH = HOUR  # the time that one statement counts while the recorder catches up
REACH = DAY.total_seconds()  # the longest time whose minutes the recorder catches up with
AHEAD = 2  # the days to come for which partitions are made
SAMPLES_KEPT = 8 * DAY
KEPT_FOR = {"job_minutes": 3 * DAY, "tenant_hours": 35 * DAY}


def record_minutes() -> None:
    """Count the minutes that are over. Raises OperationalError if a count takes too long; it is made again later."""
    for task, delay in COUNTS_OF_A_MINUTE.items():
        while _count_minutes(task, delay):
            pass


@transaction.atomic
def _count_minutes(task: str, delay: timedelta) -> bool:
    """Count the next minutes, at most BATCH; return whether there may be more to count."""
    upto, now = statements.begin_task(task, REACH)
    ends = min(upto + BATCH, (now - delay).replace(second=0, microsecond=0))
    if ends <= upto:
        return False
    rows("record_minutes", starts=upto, ends=ends, bounds=list(BOUNDS))
    statements.end_task(task, ends)
    return True


def record_hours() -> None:
    """Count the hours that are not final, up to now. Count those whose log will soon be dropped once more."""
    hour = None
    while (hour := _count_hour(hour)) is not None:
        pass
    while _count_last():
        pass


@transaction.atomic
def _count_hour(hour: datetime | None) -> datetime | None:
    """Count this hour, or the first that is not final; return the next one, or None if it has not begun."""
    upto, now = statements.begin_task(HOURS, REACH, pause=FOREVER)
    hour = max(hour or upto, upto)
    ends = hour + HOUR
    rows("record_hours", starts=hour, ends=ends, bounds=list(BOUNDS))
    if ends + LATE <= now and hour == upto:
        statements.end_task(HOURS, ends)
    return ends if ends <= now else None


@transaction.atomic
def _count_last() -> bool:
    """Count an hour for the last time: what its log has by then is billed. Return whether there may be more."""
    age = log_kept() - DAY
    upto, now = statements.begin_task(LAST_HOURS, (age + DAY).total_seconds(), pause=FOREVER)
    ends = upto + HOUR
    if ends + age > now:
        return False
    rows("record_hours", starts=upto, ends=ends, bounds=list(BOUNDS))
    statements.end_task(LAST_HOURS, ends)
    return True


def keep_partitions() -> None:
    """Make the partitions of yesterday and of the coming days, and drop those that are old enough, and billed."""
    now = store.database_now()
    today = datetime.combine(now.astimezone(UTC), time(), UTC)
    for table, kept in (KEPT_FOR | {"attempts": log_kept()}).items():
        for day in range(-1, AHEAD + 1):
            partitions.ensure(table, today + day * DAY, today + (day + 1) * DAY)
        partitions.drop_before(table, min(now - kept, _billed(table, now)))
    forget_old(now)


def forget_old(now: datetime) -> None:
    """Delete the samples, and the changes of limits and processes, that are older than they are kept."""
    Sample.objects.filter(at__lt=now - SAMPLES_KEPT).delete()
    rows("forget_changes", moment=now - log_kept())


def log_kept() -> timedelta:
    """Return how long the log of attempts is kept; each of its hours is counted for the last time a day before."""
    return max(timedelta(seconds=settings.JOBS_ATTEMPTS_KEPT), 2 * DAY)


def _billed(table: str, now: datetime) -> datetime:
    """Return the moment from which on the rows of this table are still needed for bills."""
    never = datetime.min.replace(tzinfo=UTC)
    if table == "attempts":
        return Recorded.objects.filter(task=LAST_HOURS).values_list("upto", flat=True).first() or never
    if table == "tenant_hours":
        day = first_open()
        return midnight(day) if day else never
    return now
