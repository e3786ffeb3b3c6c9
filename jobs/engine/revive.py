"""Revive: give a job that ended badly another go. Discard: let a dead one rest."""

from django.db import transaction

from jobs import store, telemetry
from jobs.calls.request import TooManyWaiting
from jobs.engine import dispatch


def revive(job_id: int, tenant_id: int | None = None) -> bool:
    """A new series of attempts for an error, dead or cancelled job; False if there is none to revive.

    tenant_id: the only tenant whose job it may be, and who revives nothing that an operator ended; None: an operator.
    Raises TooManyWaiting when the tenant that asks has a full backlog.
    """
    with transaction.atomic():
        if not store.revive(job_id, tenant_id):
            return False
        if tenant_id is not None:
            _refuse_if_full(tenant_id)
        dispatch.on_commit()
    telemetry.applied("revive", job_id)
    return True


def _refuse_if_full(tenant_id: int) -> None:
    waiting, bound = store.backlog(tenant_id)
    if waiting > bound:
        raise TooManyWaiting(bound)


def discard(job_id: int) -> bool:
    """Take a dead job out of the dead-letter queue for good; False if it is not dead."""
    applied = store.discard(job_id)
    if applied:
        telemetry.applied("discard", job_id)
    return applied
