"""The past on the pages, mostly counted by the recorder (ADR 0019), and cached for half a minute for all viewers."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote
from uuid import UUID

from jobs.console.ops import snapshot
from jobs.console.ops.charts import KINDS, Chart, chart, curve, strip
from jobs.console.ops.charts import Ended as EndedInStep
from jobs.console.ops.present_queries import look, look_objects
from jobs.console.ops.tenant_order import standings
from jobs.pages.cached import PAST_SECONDS, cached
from jobs.reading import queries
from jobs.reading.health.looks import look_sample
from jobs.reading.statistics import Summary, Times, added, summaries

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
RANGES = {  # a step, and the number of steps; minutes are kept for three days
    **{"1h": (MINUTE, 60), "6h": (6 * MINUTE, 60), "24h": (24 * MINUTE, 60), "3d": (72 * MINUTE, 60)},
}
KEPT = timedelta(days=35)  # for which the hours of tenants are kept; nothing is older
OF_TENANT = {"24h": (HOUR, 24), "7d": (3 * HOUR, 56), "30d": (12 * HOUR, 60)}
MINUTES, HOURS = 60, 24
QUARTER, QUARTERS = 15, 96  # minutes of a step, and the steps of a day
STRIPS = 100  # tenants: those that need attention first
MANY_FAILED = 0.05  # of its attempts, for a tenant's failures to stand out
FAILING = 5  # job types that are listed
MAX_WORKED = 20_000  # jobs of all workers


@cached(PAST_SECONDS, before=None)
def drawn(length: str, until: datetime | None, jobs: str) -> Chart | None:
    """Draw the chart of all ended attempts.

    length: one of RANGES
    until: the minute at which it ends; None for this minute
    jobs: the address of the list of jobs
    """
    step, count = RANGES[length]
    until = until or minute()
    since = until - count * step
    ended = look_objects(EndedInStep, "look_minutes", since=since, until=until, step=step)
    return chart(ended, since, step, count, f"{jobs}?q=")


@cached(PAST_SECONDS, before={})
def queues() -> Mapping[tuple[str, ...], Summary]:
    """Summarise the attempts that ended in the last hour, by queue."""
    return summaries(queries.ended_in_queues(minute() - MINUTES * MINUTE), (), "queue")


@cached(PAST_SECONDS, before=None)
def failing_in(length: str, until: datetime | None = None) -> list[tuple[str, int, int]] | None:
    """Return the job types with the most failed attempts: type, failed attempts, all attempts.

    length, until: as in `drawn`
    """
    until = until or minute()
    step, count = RANGES[length]
    return failing(look("look_failing", since=until - count * step, until=until))


def failing(ended: Iterable[tuple[Any, ...]]) -> list[tuple[str, int, int]]:
    """Return the job types with the most failed attempts: type, failed attempts, all attempts.

    ended: source type, method, outcome and number of attempts
    """
    failed: dict[str, int] = defaultdict(int)
    attempts: dict[str, int] = defaultdict(int)
    for source_type, method, outcome, number in ended:
        name = f"{source_type}.{method}"
        attempts[name] += number
        failed[name] += number if _is_failure(outcome) else 0
    most = sorted((name for name, count in failed.items() if count), key=lambda name: (-failed[name], name))
    return [(name, failed[name], attempts[name]) for name in most[:FAILING]]


def _is_failure(outcome: str) -> bool:
    return KINDS.get(outcome, outcome) in ("bad", "retry")


@cached(PAST_SECONDS, before=(None, {}))
def past_of(
    tenant_id: int, slug: str, length: str, jobs: str
) -> tuple[Chart | None, Mapping[tuple[str, ...], Summary]]:
    """Draw the chart of the ended attempts of a tenant, and summarise them by job type.

    length: one of OF_TENANT
    jobs: the address of the list of jobs
    """
    step, count = OF_TENANT[length]
    since = minute().replace(minute=0) + HOUR - count * step
    ended = look_objects(EndedInStep, "look_hours", tenant_id=tenant_id, since=since)
    types = summaries(queries.ended(tenant_id, since), (), "source_type", "source_method")
    return chart(ended, since, step, count, f"{jobs}?q=tenant:{quote(slug)}+"), types


@dataclass(frozen=True)
class InADay:
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
def days_of(ids: frozenset[int]) -> Mapping[int, InADay]:
    """Return the last 24 hours of each of these tenants that had attempts, or had no free slot at some time."""
    rows: dict[int, list[tuple[str, int, Sequence[int]]]] = defaultdict(list)
    for tenant_id, *ended in look("look_day", ids=list(ids), since=_day_ago()):
        rows[tenant_id].append((*ended,))
    whole = full()
    return {
        pk: InADay(
            sum(attempts for _, attempts, _ in mine),
            sum(attempts for outcome, attempts, _ in mine if _is_failure(outcome)),
            Times.from_buckets(added(buckets for _, _, buckets in mine)),
            whole.get(pk),
        )
        for pk in ids & (rows.keys() | whole.keys())
        for mine in [rows[pk]]
    }


@cached(PAST_SECONDS, before={})
def full() -> Mapping[int, int]:
    """Return the seconds of the last 24 hours in which all slots of a tenant were in use while jobs waited."""
    return {pk: minutes * MINUTES for pk, minutes in look("look_full", since=_day_ago())}


def _day_ago() -> datetime:
    """Return the beginning of the first of the last HOURS whole hours."""
    return minute().replace(minute=0) - (HOURS - 1) * HOUR


def minute() -> datetime:
    """Return the beginning of this minute."""
    return datetime.now(UTC).replace(second=0, microsecond=0)


@cached(PAST_SECONDS, before=None)
def fairness() -> float | None:
    """Return Jain's fairness index of the recorder's newest sample."""
    return look_sample().fairness


@dataclass(frozen=True)
class Worked:
    """The recent work of a worker.

    ended: the jobs that ended in the last minute
    crashes: the attempts of the last day whose process died, other than for their memory
    """

    ended: int = 0
    crashes: int = 0


@cached(PAST_SECONDS, before={})
def worked() -> Mapping[UUID, Worked]:
    """Return the recent work of each worker; without workers that did nothing."""
    return {worker: Worked(*counted) for worker, *counted in look("look_worked", most=MAX_WORKED)}


@dataclass(frozen=True)
class Sample:
    """A sample of the recorder: objects by the id of a tenant or queue, or by the name of a pool."""

    tenants: Mapping[str, Mapping[str, int]]
    queues: Mapping[str, Mapping[str, int]]
    pools: Mapping[str, Mapping[str, int]]


def _samples(since: datetime, tenant_ids: Collection[int], *, step: int) -> Mapping[datetime, Sample]:
    """Return one sample for each `step` minutes, with all queues and pools, and with these tenants."""
    found = look("look_samples", since=since, ids=[str(pk) for pk in tenant_ids], step=step)
    return {at: Sample(*map(json.loads, texts)) for at, *texts in found}  # Django leaves JSON as a text


@dataclass(frozen=True)
class Use:
    """The last hour, by name or id: strips of the use of pools and tenants; curves of the waiting jobs of queues."""

    pools: Mapping[str, str] = field(default_factory=dict)
    tenants: Mapping[int, str] = field(default_factory=dict)
    queues: Mapping[int, str] = field(default_factory=dict)


@cached(PAST_SECONDS, before=Use())
def use_of_last_hour() -> Use:
    """Draw the slots and processes in use and the waiting jobs, from the samples of the recorder."""
    seen = snapshot.current()
    tenant_ids = {one.tenant.id for one in standings(seen)[:STRIPS]}
    first = minute() - (MINUTES - 1) * MINUTE
    at = _samples(first, tenant_ids, step=1)
    samples = [at.get(first + minute * MINUTE) for minute in range(MINUTES)]
    known = [sample for sample in samples if sample is not None]
    pools, queues = {name for one in known for name in one.pools}, {pk for one in known for pk in one.queues}
    return Use(
        {name: strip([_share(one, "pools", name, "processes") for one in samples]) for name in pools},
        {pk: strip([_share(one, "tenants", str(pk), "slots") for one in samples]) for pk in tenant_ids},
        {
            int(pk): curve([one.queues.get(pk, {}).get("waiting", 0) if one else None for one in samples])
            for pk in queues
        },
    )


def _share(sample: Sample | None, kind: str, key: str, limit: str) -> float | None:
    """Return the part of its limit that a tenant or a pool had in use; None if there is no sample."""
    if sample is None:
        return None
    of = getattr(sample, kind).get(key)
    in_use = of["in_use"] if of else 0
    return min(in_use / of[limit], 1.0) if of and of[limit] else float(in_use > 0)


@cached(PAST_SECONDS, before="")
def use_of_day(tenant_id: int) -> str:
    """Draw the slots in use of a tenant, by quarters of an hour, as a strip."""
    first = minute() - (QUARTERS - 1) * QUARTER * MINUTE
    first = first.replace(minute=first.minute // QUARTER * QUARTER)
    at = _samples(first, {tenant_id}, step=QUARTER)
    samples = [at.get(first + place * QUARTER * MINUTE) for place in range(QUARTERS)]
    return strip([_share(one, "tenants", str(tenant_id), "slots") for one in samples])
