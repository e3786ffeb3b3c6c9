"""The schemas of the statistics of the last 24 hours."""

from datetime import datetime
from typing import Any, Self

from ninja import Schema
from pydantic import Field

from jobs.http.usage import IN_TIME, TARGETED
from jobs.reading import last_day, wait_targets
from jobs.reading.statistics import Summary


class Outcomes(Schema):
    """Attempts by outcome. A job that was retried has several; one that was cancelled before its start has none."""

    success: int
    error: int
    dead: int
    cancelled: int
    retry: int = Field(description="The attempt failed, and another one followed.")
    snooze: int = Field(description="The job asked to run again later.")
    hand_back: int = Field(description="The job gave its slot back at a checkpoint, and goes on from there.")
    wait_for: int = Field(description="The job waits for an event, without a slot.")
    crash: int = Field(description="The process died, and another attempt followed.")
    stopped: int = Field(description="The worker was stopped, and another attempt followed.")


class Percentiles(Schema):
    """Approximate seconds: the true value lies within half of it. Null: no attempt ended."""

    p50: float | None = Field(description="Half of the attempts took at most so many seconds.")
    p95: float | None = Field(description="95 of 100 attempts took at most so many seconds.")


class Counted(Schema):
    outcomes: Outcomes
    run_seconds: float = Field(description="The run times of all these attempts together, in seconds.")
    run: Percentiles = Field(description="From start to end.")
    wait: Percentiles = Field(description="From ready to start.")
    process_wait: Percentiles = Field(
        description="The part of `wait` for a process, in which the tenant's own limits did not hold the job."
    )
    targeted: int = TARGETED
    in_time: int = IN_TIME


class CountedNow(Counted):
    waiting: int = Field(
        description="Jobs that wait now; for all tenants an estimate. "
        f"By job type, at most {last_day.MAX_COUNTED:,} jobs of a queue are counted."
    )
    running: int = Field(description="Jobs that hold a slot now: queued or running.")


class QueueDay(CountedNow):
    queue: str


class TypeCounted(Counted):
    source_type: str
    source_method: str


class TypeDay(CountedNow):
    source_type: str
    source_method: str


class ShareInTime(Schema):
    targeted: int = TARGETED
    in_time: int = IN_TIME
    share: float | None = Field(description="`in_time` divided by `targeted`. Null: no attempt.")


class QueueTarget(Schema):
    """A queue's wait target, and how often it was kept. An attempt is judged by the target under which it started."""

    queue: str
    seconds: float = Field(
        description="The seconds in which a job shall get a process, once its tenant's limits let it start."
    )
    last_day: ShareInTime
    last_month: ShareInTime = Field(description="The last 30 days (UTC), with today.")

    @classmethod
    def of(cls, target: wait_targets.WaitTarget) -> Self:
        each = {name: getattr(target, name) for name in ("last_day", "last_month")}
        kept = {name: ShareInTime(**vars(one), share=one.share) for name, one in each.items()}
        return cls(queue=target.queue, seconds=target.seconds, **kept)


class LastDay(Schema):
    """The attempts that ended in the last 24 hours, by queue and by job type."""

    since: datetime = Field(description="The full hour from which attempts count: at least 24 hours ago.")
    counted_at: datetime | None = Field(description="When they were last counted: about every minute. Null: never.")
    queues: list[QueueDay]
    types: list[TypeDay]
    wait_targets: list[QueueTarget] = Field(
        description="The queues with a target; for a tenant, those in which it ran anything under one in 30 days."
    )

    @classmethod
    def of(cls, day: last_day.LastDay) -> Self:
        queues = [QueueDay(**_summary(summary), queue=name) for (name,), summary in day.queues.items()]
        types = [
            TypeDay(**_summary(summary), source_type=source_type, source_method=method)
            for (source_type, method), summary in day.types.items()
        ]
        targets = [QueueTarget.of(target) for target in day.targets]
        return cls(since=day.since, counted_at=day.counted_at, queues=queues, types=types, wait_targets=targets)


class QueuesLastDay(LastDay):
    """The attempts of all tenants that ended in the last 24 hours, by queue and by job type."""

    since: datetime
    types: list[TypeCounted]  # type: ignore[assignment]


def _summary(summary: Summary) -> dict[str, Any]:
    return vars(summary) | {name: vars(getattr(summary, name)) for name in ("run", "wait", "process_wait")}
