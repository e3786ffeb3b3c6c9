"""Read how often the wait targets of queues were kept, in 24 hours and on 30 days: for a tenant, and for all."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from jobs.reading import queries
from jobs.reading.statistics import Kept
from jobs.reading.usage import day_of

DAY = timedelta(days=1)
MONTH = 30  # days


@dataclass(frozen=True)
class WaitTarget:
    """A queue's wait target, and how often it was kept.

    seconds: in which a ready job shall get a process. Attempts before a change are judged by the target of then.
    last_month: the last 30 days (UTC), with today.
    """

    queue: str
    seconds: float
    last_day: Kept
    last_month: Kept


def of_tenant(tenant_id: int, now: datetime) -> list[WaitTarget]:
    """Return the targets of the queues in which a tenant ran anything under a target in the last 30 days, by name.

    The last 24 hours are those of the tenant's statistics: they begin at a full hour.
    """
    since = now.replace(minute=0, second=0, microsecond=0) - DAY
    return list(map(_target, queries.targets_of_tenant(tenant_id, since, _first_day(now))))


def of_queues(now: datetime) -> list[WaitTarget]:
    """Return the targets of all queues that have one, by name; their attempts are those of all tenants."""
    since = now.replace(second=0, microsecond=0) - DAY
    return list(map(_target, queries.targets_of_queues(since, _first_day(now))))


def _first_day(now: datetime) -> date:
    return day_of(now) - (MONTH - 1) * DAY


def _target(row: tuple[str, float, int, int, int, int]) -> WaitTarget:
    queue, seconds, *counts = row
    return WaitTarget(queue, seconds, Kept(*counts[:2]), Kept(*counts[2:]))
