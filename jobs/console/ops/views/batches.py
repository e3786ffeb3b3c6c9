"""Batches: how far each is; and one, with its jobs, failures first, and to cancel it by one act."""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from jobs import store
from jobs.console.ops import live, looks
from jobs.console.ops.access import action_for, page_for, plain_page
from jobs.console.ops.answers import done, refused
from jobs.console.ops.views.many import MAX_UNASKED
from jobs.engine.whole_batch import cancel_batch, close_batch
from jobs.pages.answers import cancelled, existing
from jobs.pages.typed import number
from jobs.reading import listing
from jobs.store import EVERY_TENANT, Progress

A_PAGE = 50


@page_for("jobs.view_job")
def show(request: HttpRequest) -> HttpResponse:
    found, older = listing.batches(A_PAGE, tenant_id=EVERY_TENANT, before=number(request.GET.get("before", "")))
    names = looks.tenants({one.tenant_id for one in found})
    shown = {"batches": [(one, names.get(one.tenant_id)) for one in found], "older": older}
    return live.page(request, "batches", "Batches", (), shown, every=0)


@page_for("jobs.view_job")
def one(request: HttpRequest, pk: int) -> HttpResponse:
    """Its first jobs, failures first, and what may be done to all of them."""
    batch = _batch(pk)
    shown = {
        "batch": batch,
        "tenant": looks.tenants({batch.tenant_id}).get(batch.tenant_id),
        "after": store.waiting_for(pk, tenant_id=EVERY_TENANT),
        "jobs": listing.failures_first(batch, A_PAGE, tenant=None),
        "all": {"q": f"batch:{pk}", "upto": listing.newest(), "all": 1},  # what an action on them asks for
    }
    every = 0 if batch.is_complete else live.REFRESH_SECONDS
    return live.page(request, "batch", f"Batch {pk}", ("head", "jobs"), shown, every=every)


@action_for("jobs.change_job")
def cancel(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Cancel what waits of it, and ask what runs to stop; after a confirmation, if they are many."""
    batch = _batch(pk)
    if batch.total - batch.ended > MAX_UNASKED and "sure" not in request.POST:
        return plain_page(request, "cancel_batch", "Cancelling", {"batch": batch})
    count = cancel_batch(pk, tenant_id=EVERY_TENANT)
    return done(request, cancelled(count, goes_on=_batch(pk).cancelling))


def _batch(pk: int) -> Progress:
    return existing(store.read_batch(pk, tenant_id=EVERY_TENANT), f"There is no batch {pk:,}.")


@action_for("jobs.change_job")
def close(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Nobody but its own jobs adds to it any more."""
    if not close_batch(_batch(pk).id, tenant_id=EVERY_TENANT):
        return refused(request, f"Batch {pk} is closed.")
    return done(request, f"Batch {pk} is closed: what waits for it goes on when all of its jobs have ended.")
