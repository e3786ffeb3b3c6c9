"""Read what the recorder wrote of the past (ADR 0019). All viewers share an answer for half a minute."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Self

from jobs.console.ops.shared import snapshot
from jobs.console.ops.shared.present_queries import look
from jobs.console.ops.shared.strips import curve, strip
from jobs.pages.cached import PAST_SECONDS, cached
from jobs.reading import wait_targets
from jobs.reading.health.looks import look_sample
from jobs.reading.wait_targets import WaitTarget

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
SECONDS = 60  # of a minute
KEPT = timedelta(days=35)  # for which the hours of tenants are kept; nothing is older
MINUTES = 60
LATEST = 8  # minutes that tell where a line is going; the recorder is a minute or two behind
RANGES = {  # a step, and the number of steps; minutes are kept for three days
    **{"1h": (MINUTE, 60), "6h": (6 * MINUTE, 60), "24h": (24 * MINUTE, 60), "3d": (72 * MINUTE, 60)},
}
STRIPS = 100  # tenants: those that need attention first


def minute() -> datetime:
    """Return the beginning of this minute."""
    return datetime.now(UTC).replace(second=0, microsecond=0)


@dataclass(frozen=True)
class ChartPeriod:
    """The period of the charts of a page.

    length: its name, one of `lengths`
    lengths: the lengths that the page offers
    bar: seconds of a bar
    until: the minute at which it ends; None for now
    earlier, later: the ends of the periods before and after it, as `until` takes them; None if the page offers none
    """

    length: str
    lengths: Iterable[str]
    bar: float
    until: datetime | None = None
    earlier: str | None = None
    later: str | None = None


@dataclass(frozen=True)
class AskedPeriod:
    """The period of charts of the minutes of all tenants, as a page was asked for it.

    length: one of RANGES
    until: the minute (UTC) at which it ends; None for this minute
    """

    length: str
    until: datetime | None = None

    @classmethod
    def asked(cls, query: Mapping[str, str], usual: str) -> Self:
        """Return the period that a query asks for: its `range`, and the minute `until` which it lasts, in UTC.

        usual: the length if the query names none, or another than those of RANGES
        """
        length, until, now = query.get("range", ""), _minute(query.get("until", "")), minute()
        is_kept = until is not None and now - KEPT < until < now
        return cls(length if length in RANGES else usual, until if is_kept else None)

    @property
    def step(self) -> timedelta:
        return RANGES[self.length][0]

    @property
    def steps(self) -> int:
        return RANGES[self.length][1]

    @property
    def end(self) -> datetime:
        return self.until or minute()

    @property
    def begin(self) -> datetime:
        return self.end - self.steps * self.step

    @property
    def of_chart(self) -> ChartPeriod:
        """Return the period as the heads of charts show it, with links to earlier and later ones."""
        half = self.steps * self.step / 2
        later = self.end + half
        return ChartPeriod(
            self.length,
            RANGES,
            self.step.total_seconds(),
            self.until,
            written(self.end - half),
            written(later) if later < minute() else None,
        )

    @property
    def search(self) -> str:
        """Return the words of a search for jobs that ended in the period."""
        return f"ended_since:{written(self.begin)} ended_until:{written(self.end)}"


def written(at: datetime) -> str:
    """Return a moment as searches and addresses take it."""
    return f"{at:%Y-%m-%dT%H:%M}"


def _minute(text: str) -> datetime | None:
    with suppress(ValueError, OverflowError):
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC).replace(second=0, microsecond=0)
    return None


@cached(PAST_SECONDS, before=None)
def fairness() -> float | None:
    """Return Jain's fairness index of the recorder's newest sample."""
    return look_sample().fairness


@cached(PAST_SECONDS, before=())
def targets_kept() -> Sequence[WaitTarget]:
    """Return how often the wait targets of queues were kept, of all tenants. Reads a day of minutes."""
    return wait_targets.of_queues(datetime.now(UTC))


@dataclass(frozen=True)
class Sample:
    """A sample of the recorder: objects by the id of a tenant or queue, or by the name of a pool."""

    tenants: Mapping[str, Mapping[str, float]]
    queues: Mapping[str, Mapping[str, int]]
    pools: Mapping[str, Mapping[str, int]]

    def use_of_pool(self, name: str) -> float:
        """Return the part of its processes that a pool had in use."""
        return _share(self.pools.get(name, {}), "processes")

    def use_of_tenant(self, pk: int) -> float:
        """Return the part of its slots that a tenant had in use: at the look, or in the mean of the minute before."""
        numbers = self.tenants.get(str(pk), {})
        worked = numbers.get("seconds", 0) / SECONDS
        return max(_share(numbers, "slots"), min(worked / max(numbers.get("slots", 0), 1), 1.0))

    def waiting_of_queue(self, pk: str) -> int:
        """Return the number of jobs that waited in a queue."""
        return self.queues.get(pk, {}).get("waiting", 0)


def _share(numbers: Mapping[str, float], limit: str) -> float:
    in_use, most = numbers.get("in_use", 0), numbers.get(limit, 0)
    return min(in_use / most, 1.0) if most else float(in_use > 0)


def samples(since: datetime, tenant_ids: Collection[int]) -> list[Sample | None]:
    """Return the samples of MINUTES minutes, with all queues and pools and with these tenants."""
    rows = look("look_samples", since=since, ids=[str(pk) for pk in tenant_ids])
    by_moment = {at: Sample(*map(json.loads, texts)) for at, *texts in rows}  # Django leaves JSON as a text
    return [by_moment.get(since + place * MINUTE) for place in range(MINUTES)]


@dataclass(frozen=True)
class Use:
    """The last hour, by name or id: strips of the use of pools and tenants; curves of the waiting jobs of queues.

    waiting: the waiting jobs of each queue at the last LATEST minutes; None: not known
    """

    pools: Mapping[str, str] = field(default_factory=dict)
    tenants: Mapping[int, str] = field(default_factory=dict)
    queues: Mapping[int, str] = field(default_factory=dict)
    waiting: Mapping[int, Sequence[int | None]] = field(default_factory=dict)


@cached(PAST_SECONDS, before=Use())
def use_of_last_hour() -> Use:
    """Draw the slots and processes in use and the waiting jobs, from the samples of the recorder."""
    tenant_ids = {standing.tenant.id for standing in snapshot.current().standings[:STRIPS]}
    hour = samples(minute() - (MINUTES - 1) * MINUTE, tenant_ids)
    known = [sample for sample in hour if sample is not None]
    pools = {name for sample in known for name in sample.pools}
    queues = {pk for sample in known for pk in sample.queues}
    waiting = {int(pk): [sample.waiting_of_queue(pk) if sample else None for sample in hour] for pk in queues}
    return Use(
        {name: strip([sample.use_of_pool(name) if sample else None for sample in hour]) for name in pools},
        {pk: strip([sample.use_of_tenant(pk) if sample else None for sample in hour]) for pk in tenant_ids},
        {pk: curve(jobs) for pk, jobs in waiting.items()},
        {pk: jobs[-LATEST:] for pk, jobs in waiting.items()},
    )
