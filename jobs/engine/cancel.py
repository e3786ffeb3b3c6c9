"""Cancel: stop waiting work at once; ask running work to stop, and end its process if it does not."""

from collections.abc import Callable
from enum import StrEnum

from django.conf import settings
from django.db import transaction

from jobs import store, telemetry
from jobs.engine import dispatch
from jobs.store import Applied

EndProcess = Callable[[Applied], None]

_end_process: EndProcess | None = None


class Cancellation(StrEnum):
    """What came of it."""

    CANCELLED = "cancelled"  # it was waiting, and will not run
    REQUESTED = "requested"  # it is running, and was asked to stop
    TOO_LATE = "too late"  # it has ended, or there is no such job for this tenant


def connect(end_process: EndProcess) -> None:
    """Say how the process that runs an attempt is ended. It raises nothing, and may be asked again."""
    global _end_process  # noqa: PLW0603 - wired once, when the process starts
    _end_process = end_process


def cancel(job_id: int, tenant_id: int | None = None) -> Cancellation:
    """Cancel a job, or ask it to stop.

    tenant_id: the only tenant whose job it may be; None for an operator.
    """
    with transaction.atomic():
        # Asked for also when nothing is cancelled: a claim may have skipped the row while this statement looked at it.
        dispatch.on_commit()
        while True:
            if store.cancel(job_id, tenant_id):
                telemetry.applied("cancel", job_id)
                return Cancellation.CANCELLED
            if store.request_cancel(job_id, tenant_id):
                telemetry.noticed("cancel requested", job=job_id)
                return Cancellation.REQUESTED
            # Between the two it may have been started, or taken back, any number of times: ask until one applies.
            if not store.is_unfinished(job_id, tenant_id):
                return Cancellation.TOO_LATE


def enforce() -> None:
    """End the processes of those that did not stop within JOBS_CANCEL_GRACE seconds; then their slots are freed."""
    for job in store.overdue_cancels(settings.JOBS_CANCEL_GRACE):
        telemetry.noticed("cancel enforced", job=job.id, attempt=job.attempt)
        if _end_process is not None:
            _end_process(job)
