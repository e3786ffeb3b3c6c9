"""What was counted of the past, mostly by the recorder (ADR 0019), kept for half a minute for all viewers."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

from jobs.console.ops import looks
from jobs.console.ops.cached import Kept
from jobs.console.ops.charts import KINDS, Chart, chart
from jobs.console.ops.looks import Worked
from jobs.reading import queries
from jobs.reading.health.looks import look_sample
from jobs.reading.statistics import Ended, Summary, Times, added, summaries

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
RANGES = {"1h": (MINUTE, 60), "6h": (6 * MINUTE, 60), "24h": (24 * MINUTE, 60)}  # a step, and the number of steps
MINUTES, HOURS = 60, 24
MANY = 0.05  # of its attempts, for a tenant's failures to stand out
FAILING = 5  # job types that are listed


def _drawn(length: str) -> Chart:
    step, count = RANGES[length]
    since = minute() - count * step
    return chart(looks.minutes(since, step), since, step, count)


@dataclass(frozen=True)
class LastHour:
    """failing: job type, its attempts that failed, all of its attempts; those with the most failures."""

    queues: Mapping[tuple[str, ...], Summary] = field(default_factory=dict)
    failing: Sequence[tuple[str, int, int]] = ()


def _last_hour(_: None) -> LastHour:
    ended = queries.ended_in_queues(minute() - MINUTES * MINUTE)
    return LastHour(summaries(ended, (), "queue"), failing(ended))


def failing(ended: Iterable[Ended]) -> list[tuple[str, int, int]]:
    """The job types with the most failed attempts: type, failed, all."""
    failed: dict[str, int] = defaultdict(int)
    attempts: dict[str, int] = defaultdict(int)
    for one in ended:
        name = f"{one.source_type}.{one.source_method}"
        attempts[name] += one.attempts
        failed[name] += one.attempts if _is_failure(one.outcome) else 0
    most = sorted((name for name, count in failed.items() if count), key=lambda name: (-failed[name], name))
    return [(name, failed[name], attempts[name]) for name in most[:FAILING]]


def _is_failure(outcome: str) -> bool:
    return KINDS.get(outcome) == "bad" or outcome == "retry"


@dataclass(frozen=True)
class Day:
    """The last 24 hours of a tenant: by hour, and its job types."""

    chart: Chart
    types: Mapping[tuple[str, ...], Summary]


def _day(tenant_id: int) -> Day | None:
    since = minute().replace(minute=0) - (HOURS - 1) * HOUR
    return Day(
        chart(looks.hours(tenant_id, since), since, HOUR, HOURS),
        summaries(queries.ended(tenant_id, since), (), "source_type", "source_method"),
    )


@dataclass(frozen=True)
class InADay:
    """What ended of a tenant in the last 24 hours."""

    attempts: int
    failed: int
    wait: Times

    @property
    def many_failed(self) -> bool:
        return self.failed > MANY * self.attempts


def _tenants(ids: frozenset[int]) -> Mapping[int, InADay]:
    rows: dict[int, list[tuple[str, int, Sequence[int]]]] = defaultdict(list)
    for tenant_id, outcome, attempts, buckets in looks.day(ids, minute().replace(minute=0) - (HOURS - 1) * HOUR):
        rows[tenant_id].append((outcome, attempts, buckets))
    return {
        pk: InADay(
            sum(attempts for _, attempts, _ in mine),
            sum(attempts for outcome, attempts, _ in mine if _is_failure(outcome)),
            Times.of(added(buckets for _, _, buckets in mine)),
        )
        for pk, mine in rows.items()
    }


def minute() -> datetime:
    """The begin of this minute."""
    return datetime.now(UTC).replace(second=0, microsecond=0)


drawn: Kept[str, Chart | None] = Kept(_drawn, None)
last_hour: Kept[None, LastHour] = Kept(_last_hour, LastHour())
fairness: Kept[None, float | None] = Kept(lambda _: look_sample().fairness, None)
day_of: Kept[int, Day | None] = Kept(_day, None)
worked: Kept[None, Mapping[UUID, Worked]] = Kept(lambda _: looks.worked(), {})
days_of: Kept[frozenset[int], Mapping[int, InADay]] = Kept(_tenants, {})


def of_tenants(ids: Collection[int]) -> Mapping[int, InADay]:
    """The last 24 hours of each of these tenants that had any attempts."""
    return days_of.get(frozenset(ids))
