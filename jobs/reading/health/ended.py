"""Look at the attempts that ended lately; and, if many of them failed, at the job type that failed most."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet, Sum

from jobs.models import Job, JobMinute

MIN_JUDGED_ATTEMPTS, MAX_FAILED_SHARE = 50, 0.2  # attempts below which no share is judged; the share of failures
FURTHEST = timedelta(hours=1)  # to which the beginning of a wave of failures is followed back
MOST_ENDED = 2_000  # jobs that are read for their tenants: the latest
FAILED, DIED = Q(outcome__in=("error", "dead", "retry", "crash")), Q(outcome="dead")


@dataclass(frozen=True)
class WorstType:
    """The job type with the most failed attempts of the last minutes.

    since: the first of the minutes since when its share of failures has been too large; an hour ago at the earliest.
    tenants: those whose jobs of this type failed for good since then; of the latest jobs, MOST_ENDED
        dead ones and as many others.
    """

    job_type: str
    failed: int
    attempts: int
    since: datetime
    tenants: int


@dataclass(frozen=True)
class EndedLook:
    """The numbers of attempts that ended, of those that failed, and of those whose job died.

    worst: only if many failed.
    """

    attempts: int
    failed: int
    died: int
    worst: WorstType | None = None

    @property
    def many_failed(self) -> bool:
        return self.attempts >= MIN_JUDGED_ATTEMPTS and _too_many(self.failed, self.attempts)


def look_ended(minutes: int, now: datetime) -> EndedLook:
    """Return the attempts that ended in the last minutes, as far as the recorder has counted them."""
    ended = JobMinute.objects.filter(minute__gt=now - timedelta(minutes=minutes))
    sums = ended.aggregate(**_sums(), died=Sum("attempts", filter=DIED, default=0))
    look = EndedLook(sums["all"], sums["failed"], sums["died"])
    return EndedLook(look.attempts, look.failed, look.died, _worst(ended, now)) if look.many_failed else look


def _sums() -> dict[str, Sum]:
    return {"all": Sum("attempts", default=0), "failed": Sum("attempts", filter=FAILED, default=0)}


def _too_many(failed: int, attempts: int) -> bool:
    return failed > MAX_FAILED_SHARE * attempts


def _worst(ended: QuerySet[JobMinute], now: datetime) -> WorstType:
    by_type: Any = ended.values("source_type", "source_method").annotate(**_sums())
    worst = by_type.order_by("-failed", "source_type", "source_method")[0]
    job_type: dict[str, Any] = {name: worst[name] for name in ("source_type", "source_method")}
    minutes: Any = JobMinute.objects.filter(minute__gt=now - FURTHEST, **job_type).values("minute").annotate(**_sums())
    rows = ((row["minute"], row["failed"], row["all"]) for row in minutes.order_by("-minute"))
    since = began(rows, now)
    lately = [  # a job that died has another index than one that ended without retries
        Job.objects.filter(died_at__gt=since).order_by("-died_at"),
        Job.objects.filter(end_time__gt=since, died_at__isnull=True).order_by("-end_time"),
    ]
    latest = [row for jobs in lately for row in jobs.values_list("tenant_id", "status", *job_type)[:MOST_ENDED]]
    tenants = {tenant for tenant, status, *of in latest if status in ("error", "dead") and of == [*job_type.values()]}
    name = ".".join(job_type.values())
    return WorstType(name, worst["failed"], worst["all"], since, len(tenants))


def began(minutes: Iterable[tuple[datetime, int, int]], now: datetime) -> datetime:
    """Return the first of the minutes, without a good one between, in which too many attempts failed. Pure.

    minutes: with the failed and all attempts that ended in it, the latest first; minutes without any are missing.
    """
    since = now
    for minute, failed, attempts in minutes:
        if not _too_many(failed, attempts):
            break
        since = minute
    return since
