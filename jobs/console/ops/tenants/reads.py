"""Read the last 24 hours of the tenants that the page lists."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from jobs.console.ops.shared import history
from jobs.console.ops.shared.ended_chart import MANY_FAILED, is_failure
from jobs.console.ops.shared.heat_map import WaitsInHour, last_hours
from jobs.console.ops.shared.present_queries import look
from jobs.pages.cached import PAST_SECONDS, cached
from jobs.reading.statistics import Times, added

Ended = tuple[datetime, str, int, Sequence[int]]  # hour, outcome, number of attempts, histogram of their waits


@dataclass(frozen=True)
class TenantDay:
    """The last 24 hours of a tenant.

    attempts, failed: the numbers of ended and of failed attempts
    wait: the percentiles of their waits
    full: the seconds in which all its slots were in use while jobs waited
    hours: how long the attempts that ended in an hour had waited
    """

    attempts: int
    failed: int
    wait: Times
    full: int | None
    hours: Mapping[datetime, WaitsInHour]

    @property
    def many_failed(self) -> bool:
        return self.failed > MANY_FAILED * self.attempts


@cached(PAST_SECONDS, before={})
def days_of(ids: frozenset[int]) -> Mapping[int, TenantDay]:
    """Return the last 24 hours of each of these tenants that had attempts, or had no free slot at some time."""
    rows: dict[int, list[Ended]] = defaultdict(list)
    for tenant_id, *ended in look("look_day", ids=list(ids), since=_day_ago()):
        rows[tenant_id].append((*ended,))
    full = full_seconds()
    return {pk: _day(rows[pk], full.get(pk)) for pk in ids & (rows.keys() | full.keys())}


def _day(ended: Sequence[Ended], full: int | None) -> TenantDay:
    by_hour: dict[datetime, list[tuple[int, Sequence[int]]]] = defaultdict(list)
    for hour, _, attempts, buckets in ended:
        by_hour[hour].append((attempts, buckets))
    return TenantDay(
        sum(attempts for _, _, attempts, _ in ended),
        sum(attempts for _, outcome, attempts, _ in ended if is_failure(outcome)),
        Times.from_buckets(added(buckets for *_, buckets in ended)),
        full,
        {hour: WaitsInHour.of(counted) for hour, counted in by_hour.items()},
    )


@cached(PAST_SECONDS, before={})
def full_seconds() -> Mapping[int, int]:
    """Return the seconds of the last 24 hours in which all slots of a tenant were in use while jobs waited."""
    return {pk: 60 * minutes for pk, minutes in look("look_full", since=_day_ago())}


def _day_ago() -> datetime:
    return last_hours(history.minute())[0]
