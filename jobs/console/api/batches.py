"""Batches of all tenants: list, read, cancel and close them, and revive what failed."""

from collections import Counter
from typing import Annotated
from uuid import uuid4

from django.urls import reverse
from ninja import Query, Router, Schema
from ninja import Status as Answer
from pydantic import Field

from jobs import store
from jobs.console.api.auth import OperatorRequest, may
from jobs.console.operations.named import tenant_named
from jobs.console.operations.verbs import REVIVE
from jobs.engine.verbs import batch_actions
from jobs.http import batch_schemas, pages
from jobs.http.codes import ProblemCode
from jobs.http.inputs import PathId, RowId, Text
from jobs.http.problems import ProblemError, existing
from jobs.http.schemas import Problem
from jobs.reading import listing
from jobs.reading.listing import Sought
from jobs.store import EVERY_TENANT, Progress
from tenants.tenant_model import slugs_of

MAX_CHANGED = 1000  # jobs of one request
CHANGE = may("jobs.change_job")
Before = Annotated[RowId | None, Query(description="Only jobs with a lower id; the address `next` contains it.")]
router = Router(tags=["operators"], auth=may("jobs.view_job"))


class AnyBatch(batch_schemas.Batch):
    tenant: str = Field(description="Its slug.")


class AnyBatches(batch_schemas.Batches):
    batches: list[AnyBatch] = Field(description="Newest first.")  # type: ignore[assignment]


class SoughtBatches(batch_schemas.WantedBatches):
    tenant: Text | None = Field(None, description="Only this tenant: its slug.")


class Changed(Schema):
    changed: int
    skipped: int = Field(description="Jobs that could not be changed any more.")
    next: str | None = Field(description="The address to post to for the other jobs of the batch. Null: no others.")


@router.get("batches", url_name="operator_batches", response=AnyBatches)
def list_all_batches(request: OperatorRequest, wanted: Query[SoughtBatches]) -> AnyBatches:
    """List the batches of all tenants, newest first, in pages."""
    tenant_id = EVERY_TENANT if wanted.tenant is None else tenant_named(wanted.tenant).pk
    batches, before = listing.batches(wanted.limit, tenant_id=tenant_id, before=wanted.before)
    older = pages.onward(reverse("jobs_api:operator_batches"), wanted, before=before)
    return AnyBatches(batches=_with_tenants(batches), next=older)


@router.get("batches/{batch_id}", response=AnyBatch)
def read_any_batch(request: OperatorRequest, batch_id: PathId) -> AnyBatch:
    """Read a batch of any tenant."""
    return _with_tenants([_batch_at(batch_id)])[0]


@router.post("batches/{batch_id}/cancel", auth=CHANGE, response={202: AnyBatch})
def cancel_any_batch(request: OperatorRequest, batch_id: PathId) -> Answer[AnyBatch]:
    """Cancel the waiting jobs of a batch, and ask its running jobs to stop; its tenant cannot revive them.

    A large batch is not done when you get the answer: the clock goes on while `cancelling` is true.
    """
    batch_actions.cancel_batch(_batch_at(batch_id).id, tenant_id=EVERY_TENANT)
    return Answer(202, _with_tenants([_batch_at(batch_id)])[0])


@router.post("batches/{batch_id}/close", auth=CHANGE, response={200: AnyBatch, 409: Problem})
def close_any_batch(request: OperatorRequest, batch_id: PathId) -> AnyBatch:
    """Close a batch that its tenant left open: jobs that wait for it go on when all of its jobs have ended.

    409: it is closed already.
    """
    if not batch_actions.close_batch(_batch_at(batch_id).id, tenant_id=EVERY_TENANT):
        raise ProblemError(ProblemCode.BATCH_CLOSED, "The batch is closed.")
    return _with_tenants([_batch_at(batch_id)])[0]


@router.post("batches/{batch_id}/revive", url_name="revive_any_batch", auth=CHANGE, response=Changed)
def revive_any_batch(request: OperatorRequest, batch_id: PathId, before: Before = None) -> Changed:
    """Give the failed, dead and cancelled jobs of a batch a new series of attempts, 1000 jobs at a time."""
    ids, end = REVIVE.next(Sought(None, batch=_batch_at(batch_id).id), MAX_CHANGED, before=before)
    outcomes = Counter(REVIVE.each(ids, bulk=uuid4(), filters=f"batch:{batch_id}").values())
    changed = sum(outcomes[name] for name in REVIVE.applied(outcomes))
    address = reverse("jobs_api:revive_any_batch", args=[batch_id])
    onward = None if end is None else f"{address}?before={end}"
    return Changed(changed=changed, skipped=len(ids) - changed, next=onward)


def _with_tenants(batches: list[Progress]) -> list[AnyBatch]:
    slugs = slugs_of({batch.tenant_id for batch in batches})
    return [
        AnyBatch(**batch_schemas.Batch.of(batch).dict(), tenant=slugs.get(batch.tenant_id, "")) for batch in batches
    ]


def _batch_at(batch_id: int) -> Progress:
    return existing(store.read_batch(batch_id, tenant_id=EVERY_TENANT), "batch")
