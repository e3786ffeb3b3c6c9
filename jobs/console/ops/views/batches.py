"""Batches: how far each is; and one, with its jobs, failures first."""

from django.http import Http404, HttpRequest, HttpResponse

from jobs import store
from jobs.console.ops import live, looks
from jobs.console.ops.access import page_for
from jobs.pages.given import number
from jobs.reading import listing
from jobs.store import EVERY_TENANT, Progress

A_PAGE = 50


@page_for("jobs.view_job")
def show(request: HttpRequest) -> HttpResponse:
    found, older = listing.batches(A_PAGE, tenant_id=EVERY_TENANT, before=number(request.GET.get("before", "")))
    names = looks.tenants({one.tenant_id for one in found})
    shown = {
        "batches": [(one, names.get(one.tenant_id)) for one in found],
        "older": older,
    }
    return live.page(request, "batches", "Batches", (), shown, every=0)


@page_for("jobs.view_job")
def one(request: HttpRequest, pk: int) -> HttpResponse:
    """Its first jobs, failures first, and what may be done to all of them."""
    batch = found(pk)
    shown = {
        "batch": batch,
        "tenant": looks.tenants({batch.tenant_id}).get(batch.tenant_id),
        "after": store.waiting_for(pk, tenant_id=EVERY_TENANT),
        "jobs": listing.failures_first(batch, A_PAGE, tenant=None),
        "upto": listing.newest(),
    }
    every = 0 if batch.is_complete else live.REFRESH_SECONDS
    return live.page(request, "batch", f"Batch {pk}", ("head", "jobs"), shown, every=every)


def found(pk: int) -> Progress:
    """Raises Http404."""
    batch = store.read_batch(pk, tenant_id=EVERY_TENANT)
    if batch is None:
        raise Http404(f"There is no batch {pk:,}.")
    return batch
