"""Read the last 24 hours of the tenants that the page lists."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from jobs.console.ops.shared import history
from jobs.console.ops.shared.ended_chart import MANY_FAILED, is_failure
from jobs.console.ops.shared.history import HOUR
from jobs.console.ops.shared.present_queries import look
from jobs.pages.cached import PAST_SECONDS, cached
from jobs.reading.statistics import Times, added

HOURS = 24


@dataclass(frozen=True)
class TenantDay:
    """The last 24 hours of a tenant.

    attempts, failed: the numbers of ended and of failed attempts
    wait: the percentiles of their waits
    full: the seconds in which all its slots were in use while jobs waited
    """

    attempts: int
    failed: int
    wait: Times
    full: int | None

    @property
    def many_failed(self) -> bool:
        return self.failed > MANY_FAILED * self.attempts


@cached(PAST_SECONDS, before={})
def days_of(ids: frozenset[int]) -> Mapping[int, TenantDay]:
    """Return the last 24 hours of each of these tenants that had attempts, or had no free slot at some time."""
    rows: dict[int, list[tuple[str, int, Sequence[int]]]] = defaultdict(list)
    for tenant_id, *ended in look("look_day", ids=list(ids), since=_day_ago()):
        rows[tenant_id].append((*ended,))
    full = full_seconds()
    return {pk: _day(rows[pk], full.get(pk)) for pk in ids & (rows.keys() | full.keys())}


def _day(ended: Sequence[tuple[str, int, Sequence[int]]], full: int | None) -> TenantDay:
    """Return the day of a tenant.

    ended: outcome, number of attempts and histogram of their waits
    """
    return TenantDay(
        sum(attempts for _, attempts, _ in ended),
        sum(attempts for outcome, attempts, _ in ended if is_failure(outcome)),
        Times.from_buckets(added(buckets for _, _, buckets in ended)),
        full,
    )


@cached(PAST_SECONDS, before={})
def full_seconds() -> Mapping[int, int]:
    """Return the seconds of the last 24 hours in which all slots of a tenant were in use while jobs waited."""
    return {pk: 60 * minutes for pk, minutes in look("look_full", since=_day_ago())}


def _day_ago() -> datetime:
    """Return the beginning of the first of the last HOURS whole hours."""
    return history.minute().replace(minute=0) - (HOURS - 1) * HOUR
