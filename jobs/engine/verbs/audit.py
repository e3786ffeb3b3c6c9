"""Note the actions of the verbs in the audit log. Each verb calls this in its transaction; the surfaces never do."""

from jobs.models import Job
from jobs.store import EVERY_TENANT, TenantId
from tenants import audit


def note_job(verb: str, job_id: int, tenant_id: TenantId) -> None:
    """Note an action on a job, if there is an actor.

    tenant_id: the tenant of the job; EVERY_TENANT: it is looked up.
    """
    if not audit.is_acting():
        return
    if tenant_id is EVERY_TENANT:
        tenant_id = Job.objects.values_list("tenant_id", flat=True).get(pk=job_id)
    audit.note_one(verb, Job, job_id, f"job {job_id}", tenant_id=tenant_id)
