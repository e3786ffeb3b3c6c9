"""Cancel: stop waiting work at once."""

from django.db import transaction

from jobs import store, telemetry
from jobs.engine import dispatch


def cancel(job_id: int, tenant_id: int | None = None) -> bool:
    """Cancel a job that has not started; False if there is none to cancel (also for another tenant's).

    tenant_id: the only tenant whose job it may be; None for an operator.
    """
    with transaction.atomic():
        # Asked for also when nothing is cancelled: a claim may have skipped the row while this statement looked at it.
        dispatch.on_commit()
        applied = store.cancel(job_id, tenant_id)
    if applied:
        telemetry.applied("cancel", job_id)
    return applied
