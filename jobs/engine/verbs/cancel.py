"""Cancel: end a waiting job at once; ask a running job to stop. If it does not, its worker ends its process."""

from collections.abc import Sequence
from enum import StrEnum

from django.db import transaction

from jobs import store, telemetry
from jobs.engine.door import dispatch
from jobs.engine.verbs.audit import note_job
from jobs.models import Job
from jobs.store import TenantId
from jobs.store.owner import owned
from plumbing.bounds import is_id


class Cancellation(StrEnum):
    CANCELLED = "cancelled"  # the job was waiting and will not run
    REQUESTED = "requested"  # the job is running and was asked to stop
    TOO_LATE = "too late"  # the job has ended, or this tenant has no such job


def cancel(job_id: int, *, tenant_id: TenantId) -> Cancellation:
    """Cancel a job, or ask it to stop.

    tenant_id: the tenant that must own the job; EVERY_TENANT for an operator.
    """
    return cancel_all([job_id], tenant_id=tenant_id)[job_id]


def cancel_all(ids: Sequence[int], *, tenant_id: TenantId) -> dict[int, Cancellation]:
    """Cancel jobs, or ask them to stop, in one transaction, with one statement for all; return the outcomes by id."""
    outcomes: dict[int, Cancellation] = {}
    left = list(filter(is_id, ids))
    with transaction.atomic():
        # Dispatch even if nothing was cancelled: a claim may have skipped a row while a statement had it locked.
        dispatch.on_commit()
        while left:
            for job in store.cancel(left, tenant_id=tenant_id):
                note_job("cancelled", job.id, job.tenant_id)
                outcomes[job.id] = Cancellation.CANCELLED
            if left := [job_id for job_id in left if job_id not in outcomes]:
                for job in store.request_cancel(left, tenant_id=tenant_id):
                    note_job("asked to stop", job.id, job.tenant_id)
                    telemetry.noticed("cancel requested", job=job.id)
                    outcomes[job.id] = Cancellation.REQUESTED
                # Between the two, a job may start or be taken back any number of times: repeat until one applies.
                unfinished = Job.objects.filter(pk__in=left, end_time=None, **owned(tenant_id))
                left = [pk for pk in unfinished.values_list("pk", flat=True) if pk not in outcomes]
    return {job_id: outcomes.get(job_id, Cancellation.TOO_LATE) for job_id in ids}
