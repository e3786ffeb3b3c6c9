"""Revive: give a job that ended badly another go. Discard: let a dead one rest."""

from django.db import transaction

from jobs import store
from jobs.calls.request import TooManyWaiting
from jobs.engine import dispatch
from jobs.store import EVERY_TENANT, TenantId


def revive(job_id: int, *, tenant_id: TenantId) -> bool:
    """A new series of attempts for an error, dead or cancelled job; False if there is none to revive.

    tenant_id: of the tenant whose job it must be, and who revives nothing that an operator ended; or EVERY_TENANT.
    Raises TooManyWaiting when the tenant that asks has a full backlog.
    """
    with transaction.atomic():
        if not store.revive(job_id, tenant_id=tenant_id):
            return False
        if tenant_id is not EVERY_TENANT:
            _refuse_if_full(tenant_id)
        dispatch.on_commit()
    return True


def _refuse_if_full(tenant_id: int) -> None:
    waiting, bound = store.backlog(tenant_id)
    if waiting > bound:
        raise TooManyWaiting(bound)


def discard(job_id: int) -> bool:
    """Take a dead job out of the dead-letter queue for good; False if it is not dead."""
    return store.discard(job_id)
