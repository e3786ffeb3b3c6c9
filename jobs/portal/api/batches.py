"""Batches over HTTP: make one, add to it while it is open, see how far it is, cancel it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated

from django.db import transaction
from django.http import HttpResponse
from django.urls import reverse
from ninja import Path, Query, Router, Schema
from pydantic import Field, StrictBool

from jobs import store
from jobs.calls.refusals import InvalidRequest
from jobs.calls.request import JobRequest
from jobs.engine import batches
from jobs.portal.api import idempotency, inputs, pages, schemas
from jobs.portal.api.auth import Caller, CallerRequest
from jobs.portal.api.jobs import FULL, MISSING, REFUSED, TOO_LATE, UNFIT, compose
from jobs.portal.api.problems import ProblemError, not_found
from jobs.store import Progress

router = Router(tags=["batches"])
BatchId = Annotated[inputs.Whole, Path()]


class NewBatch(inputs.Body):
    """Jobs that belong together, and what runs when they have ended."""

    name: inputs.Text = Field(min_length=1, examples=["nightly"])
    jobs: list[inputs.Submission] = Field([], max_length=inputs.MOST_AT_ONCE)
    on_success: inputs.Submission | None = Field(
        None, description="A job that runs once, when all have ended well; also after a revival."
    )
    on_end: inputs.Submission | None = Field(None, description="A job that runs once, when all have ended.")
    close: StrictBool = Field(True, description="False: you add more jobs, and close it then.")


class Batch(Schema):
    """A batch, and what became of its jobs; a second old at most."""

    id: int = Field(description="A job waits for it by this number, in `after` or `after_end`.")
    name: str
    user: str
    created_at: datetime
    closed_at: datetime | None = Field(description="Null: it is open, so it is not over.")
    complete: bool = Field(description="True: it is closed, and all of its jobs have ended.")
    total: int
    waiting: int
    running: int
    success: int
    error: int
    dead: int
    cancelled: int
    share: float = Field(description="The share of its jobs that has ended, 0 to 1.")
    oldest: datetime | None = Field(description="When the first of its jobs that has not ended was submitted.")

    @classmethod
    def of(cls, progress: Progress) -> "Batch":
        counts = ("total", "waiting", "running", "success", "error", "dead", "cancelled", "share")
        same = ("id", "name", "created_at", "closed_at", "oldest", *counts)
        values = {name: getattr(progress, name) for name in same}
        return cls(user=progress.user_key, complete=progress.is_complete, **values)


class Batches(Schema):
    batches: list[Batch] = Field(description="Newest first.")
    next: str | None = Field(description="The address of the next page, with older batches. Null: the last page.")


class WantedBatches(Schema):
    before: inputs.RowId | None = Field(None, description="Only batches with a lower id.")
    limit: inputs.Whole = Field(20, ge=1, le=100)


@router.post(
    "batches",
    url_name="batches",
    response={202: Batch, frozenset({400, 413}) | UNFIT | REFUSED | FULL: schemas.Problem},
    openapi_extra=idempotency.PARAMETER,
)
def make_batch(request: CallerRequest, batch: NewBatch) -> HttpResponse:
    """Submit a batch of up to 1000 jobs, all or none. An error names the field: `jobs[3].priority`, `on_end.args`."""
    return idempotency.once(request, lambda: _make(request.auth, batch))


@router.post(
    "batches/{batch_id}/jobs",
    url_name="batch_jobs",
    response={202: Batch, frozenset({400, 413}) | MISSING | REFUSED | FULL | TOO_LATE: schemas.Problem},
    openapi_extra=idempotency.PARAMETER,
)
def add_to_batch(request: CallerRequest, batch_id: BatchId, batch: inputs.Submissions) -> HttpResponse:
    """Add 1 to 1000 jobs to an open batch, all or none. 409: it is closed."""
    return idempotency.once(request, lambda: _add(request.auth, batch_id, batch.jobs))


@router.post("batches/{batch_id}/close", response={200: Batch, MISSING | REFUSED | TOO_LATE: schemas.Problem})
def close_batch(request: CallerRequest, batch_id: BatchId) -> Batch:
    """Close a batch: only its own jobs add to it now, and it is over when all have ended. 409: it is closed."""
    tenant_id = request.auth.tenant.pk
    found = _found(tenant_id, batch_id)
    if not batches.close(batches.Batch(found.id, tenant_id)):
        raise ProblemError(409, "The batch is closed.")
    return Batch.of(_found(tenant_id, batch_id))


@router.get("batches", response={200: Batches, UNFIT | REFUSED: schemas.Problem})
def list_batches(request: CallerRequest, wanted: Query[WantedBatches]) -> Batches:
    """Your batches, newest first, a page at a time."""
    inputs.refuse_unknown_names(request, WantedBatches.model_fields)
    before = wanted.before or store.batches.LARGEST_ID
    found = store.read_batches(tenant_id=request.auth.tenant.pk, before=before, most=wanted.limit)
    full = len(found) == wanted.limit
    older = pages.onward(reverse("api:batches"), wanted, before=found[-1].id) if full else None
    return Batches(batches=[Batch.of(one) for one in found], next=older)


@router.get("batches/{batch_id}", url_name="batch", response={200: Batch, MISSING | REFUSED: schemas.Problem})
def read_batch(request: CallerRequest, batch_id: BatchId) -> Batch:
    """Read a batch."""
    return Batch.of(_found(request.auth.tenant.pk, batch_id))


@router.post("batches/{batch_id}/cancel", response={202: Batch, MISSING | REFUSED: schemas.Problem})
def cancel_batch(request: CallerRequest, batch_id: BatchId) -> HttpResponse:
    """Cancel those of its jobs that wait, and ask those that run to stop. `on_end` runs when they have ended."""
    tenant_id = request.auth.tenant.pk
    batches.cancel_batch(_found(tenant_id, batch_id).id, tenant_id=tenant_id)
    return _answer(tenant_id, batch_id)


def _make(caller: Caller, asked: NewBatch) -> HttpResponse:
    tenant_id = caller.tenant.pk
    on_success = None if asked.on_success is None else _composed(caller, "on_success", asked.on_success)
    on_end = None if asked.on_end is None else _composed(caller, "on_end", asked.on_end)
    requests = [_composed(caller, f"jobs[{index}]", one) for index, one in enumerate(asked.jobs)]
    with _named("jobs"), transaction.atomic():
        batch = batches.open_batch(asked.name, caller.user_key or "", tenant_id)
        batch.add(requests)
        with _named("on_success"):
            batches.call_back(batch, on_success=on_success)
        with _named("on_end"):
            batches.call_back(batch, on_end=on_end)
        if asked.close:
            batches.close(batch)
    return _answer(tenant_id, batch.id)


def _add(caller: Caller, batch_id: int, jobs: list[inputs.Submission]) -> HttpResponse:
    tenant_id = caller.tenant.pk
    found = _found(tenant_id, batch_id)
    requests = [_composed(caller, f"jobs[{index}]", one) for index, one in enumerate(jobs)]
    if found.closed_at is not None:
        raise ProblemError(409, "The batch is closed.")
    with _named("jobs"):
        batches.Batch(found.id, tenant_id).add(requests)
    return _answer(tenant_id, batch_id)


def _composed(caller: Caller, where: str, submission: inputs.Submission) -> JobRequest:
    with _named(where):
        return compose(caller, submission)


@contextmanager
def _named(where: str) -> Iterator[None]:
    """A refusal names the place in the document."""
    try:
        yield
    except InvalidRequest as refused:
        place = where if refused.index is None or where != "jobs" else f"jobs[{refused.index}]"
        raise ProblemError.refused(refused, f"{place}.{refused.field}") from None


def _found(tenant_id: int, batch_id: int) -> Progress:
    found = store.read_batches([batch_id], tenant_id=tenant_id) if 0 < batch_id <= store.batches.LARGEST_ID else []
    if not found:
        raise not_found()
    return found[0]


def _answer(tenant_id: int, batch_id: int) -> HttpResponse:
    answer = schemas.answer(202, Batch.of(_found(tenant_id, batch_id)).model_dump())
    answer["Location"] = reverse("api:batch", kwargs={"batch_id": batch_id})
    return answer
