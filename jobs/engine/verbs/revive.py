"""Revive: give a failed or cancelled job a new series of attempts. Discard: remove a job from the dead letters."""

from django.db import transaction

from jobs import store
from jobs.calls.refusals import TooManyWaiting
from jobs.engine.door import dispatch
from jobs.engine.verbs.audit import note_job
from jobs.models import JobRow
from jobs.store import EVERY_TENANT, TenantId
from plumbing.bounds import is_id


def revive(job_id: int, *, tenant_id: TenantId) -> bool:
    """Give a job with status error, dead or cancelled a new series of attempts; return False if it cannot be revived.

    A job in a sequence gets it when its turn comes. The job may be in the history. It cannot be revived if its
    arguments were erased.

    tenant_id: the tenant that must own the job, or EVERY_TENANT. A tenant cannot revive a job that an operator ended.
    Raises TooManyWaiting if that tenant has a full backlog.
    """
    if not is_id(job_id):
        return False
    with transaction.atomic():
        # In this order: if the job is just being archived, the first waits until the second can see it.
        if not (store.revive(job_id, tenant_id=tenant_id) or store.restore(job_id, tenant_id=tenant_id)):
            return False
        if tenant_id is not EVERY_TENANT:
            waiting, bound = store.backlog(tenant_id)
            if waiting > bound:
                raise TooManyWaiting(bound)
        note_job("revived", job_id, tenant_id)
        dispatch.on_commit()
    return True


def why_not(job: JobRow, *, tenant_id: TenantId) -> str:
    """Return why `revive` refused this job, in sentences."""
    if job.is_erased:
        return "Its arguments were erased, so it cannot be revived."
    if job.barred and tenant_id is not EVERY_TENANT:
        return "An operator ended this job; only an operator can revive it."
    return f"The job is {job.status}. Only jobs with status error, dead or cancelled can be revived."


def discard(job_id: int) -> bool:
    """Remove a dead job from the dead-letter queue for good; return False if it is not dead."""
    with transaction.atomic():
        discarded = store.discard(job_id)
        if discarded:
            note_job("discarded", job_id, EVERY_TENANT)
            dispatch.on_commit()  # it may have stopped its sequence, and others may wait for its end
    return discarded
