"""Revive: give a job that ended badly another go. Discard: let a dead one rest."""

from django.db import transaction

from jobs import store, telemetry
from jobs.engine import dispatch


def revive(job_id: int, tenant_id: int | None = None) -> bool:
    """A new series of attempts for an error, dead or cancelled job; False if there is none to revive.

    tenant_id: the only tenant whose job it may be; None for an operator.
    """
    with transaction.atomic():
        applied = store.revive(job_id, tenant_id)
        dispatch.on_commit()
    if applied:
        telemetry.applied("revive", job_id)
    return applied


def discard(job_id: int) -> bool:
    """Take a dead job out of the dead-letter queue for good; False if it is not dead."""
    applied = store.discard(job_id)
    if applied:
        telemetry.applied("discard", job_id)
    return applied
