"""Read the jobs of a tenant, wherever they are stored. Every query takes the tenant, and finds no other tenant's job.

The exceptions are for operators: all jobs, and the dead letters of all tenants.
"""

import json
import re
from collections.abc import Collection
from datetime import date, datetime
from typing import NamedTuple

from asgiref.sync import sync_to_async
from django.db.models import Q, QuerySet

from jobs.lifecycle import Status
from jobs.models import WITNESSES, AnyFailedAttempt, AnyJob, DeadLetter, JobLog, JobMemory, JobRow, Queue, Schedule
from jobs.reading.statistics import EndedAttempts, JobsUnderWay
from jobs.sql import statement
from jobs.store.rows import prepared, prepared_objects
from plumbing.bounds import is_id

SHOWN = frozenset(re.findall(r"\bj\.(\w+)", statement("read_job").partition("\nFROM")[0]))  # its columns


class GroupUnderWay(NamedTuple):
    """The jobs of a tenant with one status in one queue, which have not ended.

    ids: the first ones: of ready jobs in the order of their lane, of scheduled ones by their moment.
    """

    status: str
    queue_id: int
    jobs: int
    ids: list[int]


class JobState(NamedTuple):
    """The part of a job that changes while a client follows it.

    stopping: whether it runs, and was asked to stop.
    """

    status: str
    attempt: int
    stopping: bool
    progress: float | None
    progress_note: str


RELATED = ("tenant", "queue")  # of a job, as lists show them


def jobs(tenant_id: int) -> QuerySet[AnyJob]:
    """The tenant's jobs, newest first."""
    return AnyJob.objects.filter(tenant_id=tenant_id).prefetch_related("queue").order_by("-id")


def all_jobs() -> QuerySet[AnyJob]:
    """The jobs of all tenants, newest first.

    Without joins: where there are few tenants or queues, PostgreSQL would join all jobs to them before it sorts.
    """
    return AnyJob.objects.prefetch_related(*RELATED).order_by("-id")


def any_job(job_id: int) -> AnyJob | None:
    """Return the job, whichever tenant owns it; None if there is none, or its tenant or queue is gone."""
    row = all_jobs().filter(pk=job_id).first()
    return row if row is not None and is_whole(row) else None


def is_whole(job: JobRow) -> bool:
    """Return whether the job's tenant and queue exist.

    If it was submitted while they were deleted, they do not, and no page shows the job.
    """
    return hasattr(job, "tenant") and hasattr(job, "queue")


def job(tenant_id: int, job_id: int) -> AnyJob | None:
    """One of the tenant's jobs, with the columns that tenants see; Django loads other columns on access.

    Clients poll this, so it has a statement of its own: Django takes longer to build this query than to run it.
    """
    if not is_id(job_id):
        return None
    rows = prepared("read_job", id=job_id, tenant_id=tenant_id)
    if not rows:  # this reads both tables: the job may just be moving from one to the other
        return AnyJob.objects.filter(pk=job_id, tenant_id=tenant_id).select_related("queue").first()
    queue_name, *values = rows[0]
    row = AnyJob.from_db("default", SHOWN, values)
    row.args, row.stats = json.loads(row.args), json.loads(row.stats)
    row.queue = Queue.from_db("default", ("id", "name"), (row.queue_id, queue_name))
    return row


async def ajob(tenant_id: int, job_id: int) -> AnyJob | None:
    """Call `job` for async callers."""
    return await sync_to_async(job)(tenant_id, job_id)


def states(wanted: Collection[tuple[int, int]]) -> dict[tuple[int, int], JobState]:
    """Read the states of jobs, by tenant and id. Jobs of other tenants, and of the history, are missing."""
    known = [(tenant_id, job_id) for tenant_id, job_id in wanted if is_id(job_id)]
    tenants, ids = [tenant_id for tenant_id, _ in known], [job_id for _, job_id in known]
    rows = prepared("read_states", tenants=tenants, ids=ids) if known else []
    return {(tenant_id, job_id): JobState(*values) for tenant_id, job_id, *values in rows}


def status(tenant_id: int, job_id: int) -> str | None:
    """Read only the status; None also for a job in the history."""
    state = states([(tenant_id, job_id)]).get((tenant_id, job_id))
    return state and state.status


async def astatus(tenant_id: int, job_id: int) -> str | None:
    """Call `status` for async callers."""
    return await sync_to_async(status)(tenant_id, job_id)


def failed_attempts(job: JobRow, most: int | None = None) -> list[AnyFailedAttempt]:
    """Return the failed attempts in their order: all, or the last ones."""
    return list(AnyFailedAttempt.objects.filter(job_id=job.pk).order_by("-attempt")[:most])[::-1]


def logs(job: JobRow, limit: int) -> list[tuple[int, str]]:
    """Return the numbers and the output of the last attempts with any, the latest first. For operators only."""
    logs = JobLog.objects.filter(job_id=job.pk, tenant_id=job.tenant_id).order_by("-attempt")
    return list(logs.values_list("attempt", "text")[:limit])


def of_status(status: Status) -> Q:
    """Filter by status, and by its witness column: the partial indexes name the witness, not the status."""
    return Q(status=status) & witnessed(status)


def witnessed(status: Status) -> Q:
    """Filter by the witness column of a status, which other statuses may share."""
    witness = next(column for column, statuses in WITNESSES.items() if status in statuses)
    return Q((f"{witness}__isnull", False))


def schedules(tenant_id: int) -> QuerySet[Schedule]:
    """The tenant's schedules, by name."""
    return Schedule.objects.filter(tenant_id=tenant_id).order_by("name")


def memories(tenant_id: int) -> QuerySet[JobMemory]:
    """The memories of the tenant's job types and objects, the oldest first."""
    return JobMemory.objects.filter(tenant_id=tenant_id).order_by("pk")


def dead_letters() -> QuerySet[DeadLetter]:
    """The dead jobs of all tenants, latest death first: the index jobs_dead."""
    return DeadLetter.objects.filter(died_at__isnull=False).prefetch_related(*RELATED).order_by("-died_at", "-pk")


def ended(tenant_id: int, since: datetime) -> list[EndedAttempts]:
    """The tenant's attempts that ended since this hour, by queue, job type and outcome."""
    return prepared_objects(EndedAttempts, "tenant_statistics", tenant_id=tenant_id, since=since)


def ended_in_queues(since: datetime) -> list[EndedAttempts]:
    """The attempts of all tenants that ended since this minute, by queue, type and outcome."""
    return prepared_objects(EndedAttempts, "queue_statistics", since=since)


def targets_of_tenant(tenant_id: int, since: datetime, day: date) -> list[tuple[str, float, int, int, int, int]]:
    """Return each queue with a target: its name, the seconds, and the tenant's attempts that had one, and kept it.

    These two counts come first since an hour, then since a day (UTC).
    """
    return prepared("tenant_targets", tenant_id=tenant_id, since=since, day=day)


def targets_of_queues(since: datetime, day: date) -> list[tuple[str, float, int, int, int, int]]:
    """Return the same of all tenants, first since a minute."""
    return prepared("queue_targets", since=since, day=day)


def under_way(tenant_id: int, limit: int) -> list[JobsUnderWay]:
    """The tenant's jobs that wait or hold a slot, by queue and job type; at most `limit` of each queue are counted."""
    return prepared_objects(JobsUnderWay, "tenant_under_way", tenant_id=tenant_id, most=limit)


def groups_under_way(tenant_id: int, most: int, shown: int) -> list[GroupUnderWay]:
    """The tenant's jobs that have not ended, by status and queue.

    most: how many blocked, scheduled, and ready ones of each queue are counted.
    shown: how many ids of a group are returned.
    """
    found = prepared("jobs_under_way", tenant_id=tenant_id, most=most, shown=shown)
    return [GroupUnderWay(*group) for group in found]
