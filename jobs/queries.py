"""Read the jobs of a tenant. Every query takes the tenant: another tenant's job does not exist for it.

The one exception is for operators: the dead letters of all tenants.
"""

import json
import re
from datetime import datetime

from django.db.models import OuterRef, Q, QuerySet, Subquery

from jobs.lifecycle import Status
from jobs.models import WITNESSES, DeadLetter, FailedAttempt, Job, Queue, Schedule
from jobs.sql import statement
from jobs.statistics import Ended, UnderWay
from tenants.prepared import prepared

LARGEST_ID = 2**63 - 1
SHOWN = frozenset(re.findall(r"\bj\.(\w+)", statement("read_job").partition("\nFROM")[0]))  # its columns


def jobs(tenant_id: int) -> QuerySet[Job]:
    """The tenant's jobs, newest first."""
    return Job.objects.filter(tenant_id=tenant_id).select_related("queue").order_by("-id")


def job(tenant_id: int, job_id: int) -> Job | None:
    """One of the tenant's jobs, with the columns that tenants see; Django loads other columns on access.

    Clients poll this, so it has a statement of its own: Django takes longer to build this query than to run it.
    """
    if job_id > LARGEST_ID:
        return None
    for queue_name, *values in prepared(statement("read_job"), id=job_id, tenant_id=tenant_id):
        found = Job.from_db("default", SHOWN, values)
        found.args, found.stats = json.loads(found.args), json.loads(found.stats)
        found.queue = Queue.from_db("default", ("id", "name"), (found.queue_id, queue_name))
        return found
    return None


def status(tenant_id: int, job_id: int) -> str | None:
    """Read only the status, by primary key: long polls repeat this query."""
    if job_id > LARGEST_ID:
        return None
    found = prepared(statement("read_status"), id=job_id, tenant_id=tenant_id)
    return found[0][0] if found else None


def of_status(status: Status) -> Q:
    """Filter by status, and by its witness column: the partial indexes name the witness, not the status."""
    witness = next(column for column, statuses in WITNESSES.items() if status in statuses)
    return Q(status=status) & Q((f"{witness}__isnull", False))


def schedules(tenant_id: int) -> QuerySet[Schedule]:
    """The tenant's schedules, by name."""
    return Schedule.objects.filter(tenant_id=tenant_id).order_by("name")


def schedule(tenant_id: int, schedule_id: int) -> Schedule | None:
    """One of the tenant's schedules."""
    return schedules(tenant_id).filter(pk=schedule_id).first() if schedule_id <= LARGEST_ID else None


def dead_letters() -> QuerySet[DeadLetter]:
    """The dead jobs of all tenants, latest death first (the index jobs_dead), each with its last `error_class`."""
    last = FailedAttempt.objects.filter(job=OuterRef("pk"), attempt=OuterRef("attempt"))
    return (
        DeadLetter.objects.filter(died_at__isnull=False)
        .annotate(error_class=Subquery(last.values("error_class")[:1]))
        .order_by("-died_at", "-pk")
    )


def ended(tenant_id: int, since: datetime) -> list[Ended]:
    """The tenant's attempts that ended since this hour, by queue, job type and outcome."""
    return [Ended(*row) for row in prepared(statement("tenant_statistics"), tenant_id=tenant_id, since=since)]


def ended_in_queues(since: datetime) -> list[Ended]:
    """The attempts of all tenants that ended since this minute, by queue, job type and outcome. For operators."""
    return [Ended(*row) for row in prepared(statement("queue_statistics"), since=since)]


def under_way(tenant_id: int, most: int) -> list[UnderWay]:
    """The tenant's jobs that wait or hold a slot, by queue and job type; at most so many of each queue are counted."""
    return [UnderWay(*row) for row in prepared(statement("tenant_under_way"), tenant_id=tenant_id, most=most)]
