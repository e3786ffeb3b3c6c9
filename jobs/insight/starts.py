"""Predict when waiting jobs start, from the last forecast: one statement for many jobs. See docs/insight.md."""

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from jobs.insight.forecasting.far_estimates import PRIORITY
from jobs.insight.forecasting.published_lines import DEFAULT_PRIORITY
from jobs.insight.forecasting.simulation import LATER
from jobs.insight.forecasting.statements import Row, StartPrediction, interpolate
from jobs.lifecycle import Status
from jobs.models import Job, JobRow, SpentBudget
from jobs.reading.starts import LaneStarts, Reason, Starts
from jobs.store.rows import prepared

LATE = timedelta(minutes=3)  # an older forecast does not count; after a slow one the recorder rests for two
SUBMITTED = LATER - 1_000_000  # lower ids are of jobs in line; ids from here up to LATER mark the ends of lines
NEWCOMER = (DEFAULT_PRIORITY << PRIORITY) + SUBMITTED
BEHIND_ALL = 1 << 63
Key = tuple[int, int, str]  # tenant, queue, user_key


def starts(jobs: Sequence[JobRow]) -> dict[int, Starts]:
    """Return the predicted starts of the waiting jobs, by id. Jobs that are scheduled for a moment have none.

    The caller has checked that the reader may see these jobs.
    """
    spent = _spent(jobs)
    outside = {job.pk: Starts(reason=reason) for job in jobs if (reason := _out_of_line(job, spent))}
    in_line = [job for job in jobs if job.status == Status.CREATED]
    lanes = _forecasts({_key(job) for job in in_line})
    return outside | {job.pk: _starts((job.priority << PRIORITY) + job.pk, *lanes[_key(job)]) for job in in_line}


def starts_of(wanted: Collection[tuple[int, int]]) -> dict[tuple[int, int], Starts]:
    """Return the predicted starts of jobs in line, by tenant and id. Jobs of other tenants are missing."""
    waiting = Job.objects.filter(pk__in=[job_id for _, job_id in wanted], status=Status.CREATED).defer("args", "stats")
    predicted = starts(jobs := [job for job in waiting if (job.tenant_id, job.pk) in wanted])
    return {(job.tenant_id, job.pk): predicted[job.pk] for job in jobs}


def last_of(tenant_id: int) -> dict[str, Starts]:
    """Return when the tenant's last job in line starts, by queue.

    If the tenant limits its users, it is the last job without a user.
    """
    rows = prepared("starts_of_tenant", tenant_id=tenant_id)
    lines = {queue: (now, made_at, reason, json.loads(places)) for queue, now, made_at, reason, places in rows}
    return {queue: _starts(_last(forecast[-1]), *forecast) for queue, forecast in lines.items()}


def of_lanes(lanes: Iterable[tuple[int, int]]) -> dict[tuple[int, int], LaneStarts]:
    """Return the predicted starts in these lanes, by tenant and queue.

    If a tenant limits its users, its last job in line is the last one without a user.
    """
    forecasts = _forecasts({(*lane, "") for lane in lanes})
    return {
        key[:2]: LaneStarts(_starts(_last(forecast[-1] or []), *forecast), _starts(NEWCOMER, *forecast))
        for key, forecast in forecasts.items()
    }


def _last(places: Sequence[Row]) -> int:
    """Return the place of the last job in line; BEHIND_ALL if the line was not read to its end.

    If it was, the end of the line has a place, too.
    """
    jobs = [place for place, *_ in places if place % (1 << PRIORITY) < SUBMITTED]
    return jobs[-1] if 0 < len(jobs) < len(places) else BEHIND_ALL


def _forecasts(keys: set[Key]) -> dict[Key, Any]:
    tenants, queues, users = ([key[part] for key in sorted(keys)] for part in range(3))
    rows = prepared("starts_of", tenants=tenants, queues=queues, users=users) if keys else []
    return {
        (tenant, queue, user): (now, made_at, reason, places and json.loads(places))
        for tenant, queue, user, now, made_at, reason, places in rows
    }


def _spent(jobs: Sequence[JobRow]) -> set[tuple[int, str]]:
    """Return the tenants and units of budgets that are used up, of those that hold any of these jobs."""
    tenants = {job.tenant_id for job in jobs if job.is_held and job.spends}
    found = SpentBudget.objects.filter(tenant_id__in=tenants).values_list("tenant_id", "unit") if tenants else ()
    return set(found)


def _out_of_line(job: JobRow, spent: Collection[tuple[int, str]]) -> Reason | None:
    """Return why a job waits outside of any line; None if it does not."""
    if job.status == Status.BLOCKED:
        return Reason.BLOCKED
    if not job.is_held:
        return None
    return Reason.BUDGET if any((job.tenant_id, unit) in spent for unit in job.spends or ()) else Reason.HELD


def _key(job: JobRow) -> Key:
    return job.tenant_id, job.queue_id, job.user_key


def _starts(
    place: int, now: datetime, made_at: datetime | None, reason: str | None, places: Sequence[Row] | None
) -> Starts:
    if made_at is None or places is None or now - made_at > LATE:
        return Starts(reason=Reason.LATE, made_at=made_at)
    if reason:
        return Starts(reason=Reason(reason), made_at=made_at)
    return _dated(interpolate(places, place), made_at, now)


def _dated(prediction: StartPrediction, made_at: datetime, now: datetime) -> Starts:
    """Return the prediction as moments that have not passed.

    If p50 has passed and the job still waits, p90 holds for fewer than 90 % of such jobs: then the prediction is late.
    """

    def moment(seconds: float | None) -> datetime | None:
        return None if seconds is None else made_at + timedelta(seconds=seconds)

    p50, not_before = moment(prediction.p50), moment(prediction.not_before)
    if p50 is None:
        ahead = not_before is not None and not_before > now
        return Starts(None, None, not_before if ahead else None, prediction.reason, made_at)
    if p50 < now:
        return Starts(reason=Reason.LATE, made_at=made_at)
    return Starts(p50, moment(prediction.p90), None, prediction.reason, made_at)
