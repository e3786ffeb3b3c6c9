"""What a tenant may see of its jobs. Every read takes the tenant: another's job is as one that does not exist."""

from django.db.models import QuerySet

from jobs.models import Job

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
