"""The endpoints of batches: make one, add to it while it is open, read its progress, cancel it."""

from django.db import transaction
from django.http import HttpResponse
from django.urls import reverse
from ninja import Query, Router

from jobs import store
from jobs.engine.submitting import batches
from jobs.engine.verbs import batch_actions
from jobs.http import idempotency, inputs, pages, schemas
from jobs.http.auth import CallerRequest
from jobs.http.batch_schemas import Batch, Batches, NewBatch, WantedBatches
from jobs.http.codes import ProblemCode
from jobs.http.problems import ProblemError, existing
from jobs.portal.api.jobs import composed, named
from jobs.reading import listing
from jobs.store import Progress

router = Router(tags=["batches"])


@router.post("batches", url_name="batches", response={202: Batch}, openapi_extra=idempotency.PARAMETER)
@idempotency.repeatable
def make_batch(request: CallerRequest, batch: NewBatch) -> HttpResponse:
    """Submit a batch of up to 1000 jobs, all or none. An error names the field: `jobs[3].priority`, `on_end.args`."""
    tenant_id = request.auth.tenant.pk
    on_success = None if batch.on_success is None else composed(request.auth, "on_success", batch.on_success)
    on_end = None if batch.on_end is None else composed(request.auth, "on_end", batch.on_end)
    requests = [composed(request.auth, f"jobs[{index}]", submission) for index, submission in enumerate(batch.jobs)]
    with named("jobs"), transaction.atomic():
        made = batches.open_batch(batch.name, request.auth.user_key or "", tenant_id)
        made.add(requests)
        with named("on_success"):
            batches.call_back(made, on_success=on_success)
        with named("on_end"):
            batches.call_back(made, on_end=on_end)
        if batch.close:
            batches.close(made)
    return _answer(tenant_id, made.id)


@router.post(
    "batches/{batch_id}/jobs",
    url_name="batch_jobs",
    response={202: Batch, 409: schemas.Problem},
    openapi_extra=idempotency.PARAMETER,
)
@idempotency.repeatable
def add_to_batch(request: CallerRequest, batch_id: inputs.PathId, batch: inputs.Submissions) -> HttpResponse:
    """Add 1 to 1000 jobs to an open batch, all or none. 409: the batch is closed."""
    tenant_id = request.auth.tenant.pk
    batch_row = batch_of(tenant_id, batch_id)
    requests = [composed(request.auth, f"jobs[{index}]", each) for index, each in enumerate(batch.jobs)]
    if batch_row.closed_at is not None:
        raise ProblemError(ProblemCode.BATCH_CLOSED, "The batch is closed.")
    with named("jobs"):
        batches.Batch(batch_row.id, tenant_id).add(requests)
    return _answer(tenant_id, batch_id)


@router.post(
    "batches/{batch_id}/close", response={200: Batch, 409: schemas.Problem}, openapi_extra=idempotency.PARAMETER
)
@idempotency.repeatable
def close_batch(request: CallerRequest, batch_id: inputs.PathId) -> HttpResponse:
    """Close a batch: from now on only its own jobs can add to it, and it is complete when all have ended.

    409: it is closed already. A batch to which nothing was added for 30 days (`JOBS_DEAD_TTL`) is closed automatically
    when all of its jobs have ended.
    """
    tenant_id = request.auth.tenant.pk
    if not batch_actions.close_batch(batch_of(tenant_id, batch_id).id, tenant_id=tenant_id):
        raise ProblemError(ProblemCode.BATCH_CLOSED, "The batch is closed.")
    return schemas.answer(200, Batch.of(batch_of(tenant_id, batch_id)).model_dump())


@router.get("batches", response=Batches)
def list_batches(request: CallerRequest, wanted: Query[WantedBatches]) -> Batches:
    """List your batches, newest first, a page at a time."""
    batches, before = listing.batches(wanted.limit, tenant_id=request.auth.tenant.pk, before=wanted.before)
    older = pages.onward(reverse("jobs_api:batches"), wanted, before=before)
    return Batches(batches=[Batch.of(batch) for batch in batches], next=older)


@router.get("batches/{batch_id}", url_name="batch", response=Batch)
def read_batch(request: CallerRequest, batch_id: inputs.PathId) -> Batch:
    """Read a batch."""
    return Batch.of(batch_of(request.auth.tenant.pk, batch_id))


@router.post("batches/{batch_id}/cancel", response={202: Batch}, openapi_extra=idempotency.PARAMETER)
@idempotency.repeatable
def cancel_batch(request: CallerRequest, batch_id: inputs.PathId) -> HttpResponse:
    """Cancel the waiting jobs of a batch, and ask its running jobs to stop. `on_end` runs when they have ended.

    In a very large batch some are left when you get the answer. The cancel goes on while `cancelling` is true.
    """
    tenant_id = request.auth.tenant.pk
    batch_actions.cancel_batch(batch_of(tenant_id, batch_id).id, tenant_id=tenant_id)
    return _answer(tenant_id, batch_id)


@router.post("batches/{batch_id}/revive", response={202: Batch}, openapi_extra=idempotency.PARAMETER)
@idempotency.repeatable
def revive_batch(request: CallerRequest, batch_id: inputs.PathId) -> HttpResponse:
    """Give the jobs of a batch that have ended but not succeeded a new series of attempts, 5000 at a time.

    429: not all of them fit into your backlog.
    """
    tenant_id = request.auth.tenant.pk
    batch_actions.revive_batch(batch_of(tenant_id, batch_id).id, tenant_id=tenant_id)
    return _answer(tenant_id, batch_id)


def batch_of(tenant_id: int, batch_id: int) -> Progress:
    """Return that batch of the tenant. Raises ProblemError if the tenant has no such batch."""
    return existing(store.read_batch(batch_id, tenant_id=tenant_id), "batch")


def _answer(tenant_id: int, batch_id: int) -> HttpResponse:
    address = reverse("jobs_api:batch", kwargs={"batch_id": batch_id})
    return schemas.answer(202, Batch.of(batch_of(tenant_id, batch_id)).model_dump(), address)
