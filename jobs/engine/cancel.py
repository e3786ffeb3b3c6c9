"""Cancel: end a waiting job at once; ask a running job to stop. If it does not, its worker ends its process."""

from enum import StrEnum

from django.db import transaction

from jobs import store, telemetry
from jobs.engine import dispatch
from jobs.engine.audit import note_job
from jobs.store import TenantId


class Cancellation(StrEnum):
    """The outcome of a cancellation."""

    CANCELLED = "cancelled"  # the job was waiting and will not run
    REQUESTED = "requested"  # the job is running and was asked to stop
    TOO_LATE = "too late"  # the job has ended, or this tenant has no such job


def cancel(job_id: int, *, tenant_id: TenantId) -> Cancellation:
    """Cancel a job, or ask it to stop.

    tenant_id: the tenant that must own the job; EVERY_TENANT for an operator.
    """
    with transaction.atomic():
        # Dispatch even if nothing was cancelled: a claim may have skipped the row while this statement had it locked.
        dispatch.on_commit()
        while True:
            if store.cancel(job_id, tenant_id=tenant_id):
                note_job("cancelled", job_id, tenant_id)
                return Cancellation.CANCELLED
            if store.request_cancel(job_id, tenant_id=tenant_id):
                note_job("asked to stop", job_id, tenant_id)
                telemetry.noticed("cancel requested", job=job_id)
                return Cancellation.REQUESTED
            # Between the two, the job may start or be taken back any number of times: repeat until one applies.
            if not store.is_unfinished(job_id, tenant_id=tenant_id):
                return Cancellation.TOO_LATE
