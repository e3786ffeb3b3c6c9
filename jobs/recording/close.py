"""Close days: make their usage final, for bills. See docs/adr/0036-usage-for-bills.md.

A day is closed when the count of its last hour is final, five minutes after its end. It is billed for all attempts that
the hours have by then, and that no earlier day was billed for. So an attempt that is found later, or ends while the
clock is set back, is billed with the first open day.
"""

from datetime import date, datetime, timedelta

from django.db import transaction
from django.db.models import Min

from jobs import store
from jobs.conf import settings
from jobs.models import ClosedDay, SlotPeak, TenantHour, UsageDay
from jobs.reading.usage import day_of, first_open, midnight
from jobs.recording import statements
from jobs.recording.record import DAY, FOREVER, HOURS, REACH, log_kept
from jobs.store.rows import rows


def close_days() -> None:
    """Close the days that are over, the oldest first."""
    while _close_day():
        pass


@transaction.atomic
def _close_day() -> bool:
    """Close the first open day, if it is over; return whether there may be more to close."""
    counted, now = statements.begin_task(HOURS, REACH, pause=FOREVER)
    day = first_open() or _first_day(counted)
    if midnight(day + DAY) > counted:
        return False
    # The hours are counted for the last time before their log is dropped. If days were closed while the clock was
    # ahead, the attempts that ended since then are older than the first open day.
    since = min(day, day_of(counted)) - log_kept() - DAY
    kept = rows("close_day", day=day, since=since, until=day + DAY, tenant_id=None)
    ClosedDay.objects.create(day=day, closed_at=now, kept={str(queue): counts for queue, *counts in kept})
    return True


def _first_day(counted: datetime) -> date:
    """Return the day of the first hour that has any attempts; without one, the day of `counted`."""
    first = TenantHour.objects.aggregate(first=Min("hour"))["first"]
    return day_of(first or counted)


def forget_days() -> None:
    """Delete the usage of days that are older than JOBS_USAGE_KEEP."""
    day = day_of(store.database_now()) - timedelta(days=settings.JOBS_USAGE_KEEP)
    with transaction.atomic():
        for model in (ClosedDay, UsageDay, SlotPeak):  # in this order: the usage of days with a mark is final
            model._default_manager.filter(day__lt=day).delete()
