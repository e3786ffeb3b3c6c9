"""Erase: remove the contents of a tenant's ended jobs. The facts stay: that they ran, when, and how they ended."""

from dataclasses import asdict, dataclass

from django.db.models import Exists, OuterRef

from jobs.models import Attempt, Batch, Job, JobLog, JobMemory, KeptAnswer, LeftLine, WebhookEndpoint, WebhookMessage
from jobs.store import erasing, results
from tenants import audit
from tenants.tenant_model import all_tenants, get_tenant_model


@dataclass
class Report:
    """The number of things removed, by kind.

    under_way: the number of jobs that have not ended, and were left alone.
    """

    jobs: int = 0
    under_way: int = 0
    failed_attempts: int = 0
    results: int = 0
    answers: int = 0
    memories: int = 0


def erase(tenant_id: int) -> Report:
    """Remove the contents of a tenant's ended jobs, its kept answers and its memories; return how much.

    The contents of a job: its arguments, statistics, errors, logs, user and result. They are removed in batches: a
    failure leaves the rest as it was, and the next call goes on. The entry in the audit log comes first, so that
    nothing is erased without it; it gets the numbers at the end. Raises CacheAway.
    """
    report = Report()
    named = [(tenant.pk, str(tenant)) for tenant in all_tenants().filter(pk=tenant_id)]
    entries = audit.note("erased", get_tenant_model(), named, tenant_id=tenant_id)
    for batch in erasing.erase_jobs(tenant_id, results.forget):
        report.jobs += batch.jobs
        report.under_way += batch.under_way
        report.failed_attempts += batch.failed_attempts
        report.results += batch.results
    # Last, since a job may end meanwhile: either it counts as under way above, or it wrote these before it was erased.
    erase_users(tenant_id)
    under_way = Job.objects.filter(pk=OuterRef("job_id"), end_time=None)
    JobLog.objects.filter(~Exists(under_way), tenant_id=tenant_id).delete()
    report.memories, _ = JobMemory.objects.filter(tenant_id=tenant_id).delete()
    report.answers = forget_answers(tenant_id)
    audit.complete(entries, asdict(report))
    return report


def erase_users(tenant_id: int) -> None:
    """Remove the users from the tenant's batches, attempts, webhook messages, and log of jobs that left its line."""
    for log in (LeftLine, Attempt, Batch):
        log._default_manager.filter(tenant_id=tenant_id).exclude(user_key="").update(user_key="")
    endpoints = list(WebhookEndpoint.objects.filter(tenant_id=tenant_id).values_list("pk", flat=True))
    WebhookMessage.objects.filter(endpoint_id__in=endpoints).exclude(user_key="").update(user_key="")


def forget_answers(tenant_id: int) -> int:
    """Delete the answers kept for the tenant's requests; return their number."""
    return KeptAnswer.objects.filter(tenant=tenant_id).delete()[0]
