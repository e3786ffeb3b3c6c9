"""When waiting jobs start, by the last forecast: one statement for any number of jobs. See docs/insight.md."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.forecasting.statements import Reason, Said, at
from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL, JobRow
from jobs.sql import statement
from tenants.prepared import prepared

LATE = timedelta(minutes=3)  # a forecast of much work rests for two
WORDS = {
    Reason.URGENT_AHEAD: "more urgent jobs may come before it",
    Reason.FAR: "it is far behind in line",
    Reason.UNSURE: "such forecasts do not hold for now",
}
PRIORITY = 58  # bits of a place to the right of its priority: job_place


@dataclass(frozen=True)
class Starts:
    """When a job starts: about at p50, and with 90 % by p90; or not before a moment; or why nothing is said.

    p90 None: the reason says why p50 is no more than "about". made_at None: there is no forecast.
    """

    p50: datetime | None = None
    p90: datetime | None = None
    not_before: datetime | None = None
    reason: Reason | None = None
    made_at: datetime | None = None

    @property
    def in_words(self) -> str:
        """Why no more is said, for people."""
        return "" if self.reason is None else WORDS.get(self.reason, "")


def starts(jobs: Iterable[JobRow]) -> dict[int, Starts]:
    """By id, of those that are in line or held. The caller has read them for whoever may see them."""
    waiting = [job for job in jobs if job.status == Status.CREATED or job.due_at == HELD_UNTIL]
    keys = sorted({_key(job) for job in waiting if job.due_at is None})
    tenants, queues, users = ([key[part] for key in keys] for part in range(3))
    rows = prepared(statement("starts_of"), tenants=tenants, queues=queues, users=users) if keys else []
    found = {(tenant, queue, user): rest for tenant, queue, user, *rest in rows}
    return {
        job.pk: Starts(reason=Reason.HELD) if job.due_at is not None else _starts(job, *found[_key(job)])
        for job in waiting
    }


def _key(job: JobRow) -> tuple[int, int, str]:
    return job.tenant_id, job.queue_id, job.user_key


def _starts(job: JobRow, now: datetime, made_at: datetime | None, reason: str | None, places: str | None) -> Starts:
    if made_at is None or places is None or now - made_at > LATE:
        return Starts(reason=Reason.LATE, made_at=made_at)
    if reason:
        return Starts(reason=Reason(reason), made_at=made_at)
    return _dated(at(json.loads(places), (job.priority << PRIORITY) + job.pk), made_at, now)


def _dated(said: Said, made_at: datetime, now: datetime) -> Starts:
    """As moments. One that has passed is not said: the job has not started by then."""

    def moment(seconds: float | None) -> datetime | None:
        return None if seconds is None else max(made_at + timedelta(seconds=seconds), now)

    missed = said.p90 is not None and made_at + timedelta(seconds=said.p90) < now
    return Starts(
        p50=moment(said.p50),
        p90=None if missed else moment(said.p90),
        not_before=moment(said.not_before) if said.p50 is None else None,
        reason=Reason.LATE if missed else said.reason,
        made_at=made_at,
    )
