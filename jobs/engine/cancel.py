"""Cancel: stop waiting work at once; ask running work to stop. If it does not, its worker ends its process."""

from enum import StrEnum

from django.db import transaction

from jobs import store, telemetry
from jobs.engine import dispatch
from jobs.store import TenantId


class Cancellation(StrEnum):
    """What came of it."""

    CANCELLED = "cancelled"  # it was waiting, and will not run
    REQUESTED = "requested"  # it is running, and was asked to stop
    TOO_LATE = "too late"  # it has ended, or there is no such job for this tenant


def cancel(job_id: int, *, tenant_id: TenantId) -> Cancellation:
    """Cancel a job, or ask it to stop.

    tenant_id: of the tenant whose job it must be; EVERY_TENANT for an operator.
    """
    with transaction.atomic():
        # Asked for also when nothing is cancelled: a claim may have skipped the row while this statement looked at it.
        dispatch.on_commit()
        while True:
            if store.cancel(job_id, tenant_id=tenant_id):
                return Cancellation.CANCELLED
            if store.request_cancel(job_id, tenant_id=tenant_id):
                telemetry.noticed("cancel requested", job=job_id)
                return Cancellation.REQUESTED
            # Between the two it may have been started, or taken back, any number of times: ask until one applies.
            if not store.is_unfinished(job_id, tenant_id=tenant_id):
                return Cancellation.TOO_LATE
