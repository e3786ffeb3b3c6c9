"""What a tenant may see of its jobs. Every read takes the tenant: another's job is as one that does not exist.

The one exception is what the operators see: the dead letters of all.
"""

from django.db.models import OuterRef, QuerySet, Subquery

from jobs.models import DeadLetter, FailedAttempt, Job

LARGEST_ID = 2**63 - 1


def jobs(tenant_id: int) -> QuerySet[Job]:
    """The tenant's jobs, newest first."""
    return Job.objects.filter(tenant_id=tenant_id).select_related("queue").order_by("-id")


def job(tenant_id: int, job_id: int) -> Job | None:
    """One of the tenant's jobs."""
    return jobs(tenant_id).filter(pk=job_id).first() if job_id <= LARGEST_ID else None


def status(tenant_id: int, job_id: int) -> str | None:
    """Only the status, by primary key: what a long poll asks again and again."""
    if job_id > LARGEST_ID:
        return None
    return Job.objects.filter(tenant_id=tenant_id, pk=job_id).values_list("status", flat=True).first()


def dead_letters() -> QuerySet[DeadLetter]:
    """The dead jobs of all tenants, latest death first (the index jobs_dead), each with its last `error_class`."""
    last = FailedAttempt.objects.filter(job=OuterRef("pk"), attempt=OuterRef("attempt"))
    return (
        DeadLetter.objects.filter(died_at__isnull=False)
        .annotate(error_class=Subquery(last.values("error_class")[:1]))
        .order_by("-died_at", "-pk")
    )
