"""Submit a message for each end of a job that its tenant wants to be told of.

The statement that ends the job stores the event (a trigger, for jobs with the mark `announced`), and one transaction
takes events and submits their messages: so each end is told once, whatever dies. Events wait while their messages do
not fit into the backlog of their tenant.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db import transaction

from jobs import store, telemetry
from jobs.calls.refusals import InvalidRequest, TooManyWaiting
from jobs.calls.request import JobRequest
from jobs.engine.proxy import async_
from jobs.engine.submit import submit_all
from jobs.engine.webhooks.deliver import deliver
from jobs.models import AnyJob, Batch, WebhookEndpoint, WebhookEvent
from tenants.models import Tenant
from tenants.tenant_model import all_tenants

BATCH = 200  # events of a tenant at a time
MOST_TENANTS = 1000  # of a turn


def announce() -> None:
    """The clock's duty: tell what has ended."""
    found = WebhookEvent.objects.order_by("tenant_id").values_list("tenant_id", flat=True).distinct()[:MOST_TENANTS]
    for tenant_id in list(found):
        try:
            _announce(tenant_id)
        except (TooManyWaiting, InvalidRequest) as error:  # a full backlog, or no queue: they wait
            telemetry.noticed("webhooks wait", tenant=tenant_id, error=type(error).__name__)


@transaction.atomic
def _announce(tenant_id: int) -> None:
    """Those of a tenant, as many as its backlog has room for; for none: TooManyWaiting, and they are still there."""
    endpoints = list(WebhookEndpoint.objects.filter(tenant_id=tenant_id, off_at=None))
    waiting, bound = store.backlog(tenant_id)
    room = (bound - waiting) // len(endpoints) if endpoints else BATCH
    waits = WebhookEvent.objects.filter(tenant_id=tenant_id).order_by("pk").select_for_update(skip_locked=True)
    events = list(waits[: min(max(room, 1), BATCH)])
    tenant = all_tenants().filter(pk=tenant_id).first()
    if tenant is not None:
        submit_all(list(_messages(tenant, events, endpoints)))
    WebhookEvent.objects.filter(pk__in=[event.pk for event in events]).delete()


def _messages(
    tenant: Tenant, events: Iterable[WebhookEvent], endpoints: Iterable[WebhookEndpoint]
) -> Iterator[JobRequest]:
    jobs = {job.pk: job for job in AnyJob.objects.filter(pk__in=[event.job_id for event in events], tenant=tenant)}
    batches = Batch.objects.in_bulk({job.batch_id for job in jobs.values() if job.batch_id})
    for event in events:
        if (job := jobs.get(event.job_id)) is None:
            continue  # it was deleted
        batch = batches.get(job.batch_id or 0)
        for endpoint in endpoints:
            if _is_told(endpoint, job, batch):
                call = async_(deliver, tenant=tenant)
                yield call.request(endpoint=endpoint.pk, message=_message(event, job, batch))


def _is_told(endpoint: WebhookEndpoint, job: AnyJob, batch: Batch | None) -> bool:
    of_type = not endpoint.types or f"{job.source_type}.{job.source_method}" in endpoint.types
    return of_type and (not endpoint.batches or (batch is not None and batch.name in endpoint.batches))


def _message(event: WebhookEvent, job: AnyJob, batch: Batch | None) -> dict[str, Any]:
    """What the customer's system reads. Arguments, results and the texts of errors stay here: it may ask for them."""
    return {
        "id": event.pk,
        "type": f"job.{event.status}",
        "timestamp": event.ended_at.isoformat(),
        "data": {
            "id": event.job_id,
            "status": event.status,
            "attempt": event.attempt,
            "source_type": job.source_type,
            "source_id": job.source_id,
            "source_method": job.source_method,
            "user": job.user_key,
            "batch": batch and {"id": batch.pk, "name": batch.name},
            "error": job.last_error.partition(": ")[0] if event.status in ("error", "dead") else "",
        },
    }
