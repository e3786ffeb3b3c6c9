"""The page of a batch: its progress and its jobs; and the actions that cancel or close it."""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from jobs import store
from jobs.console.ops.shared import live, present_queries
from jobs.console.ops.shared.access import action_for, page_for, plain_page
from jobs.console.ops.shared.answers import MAX_UNASKED, done, refused
from jobs.engine.verbs.batch_actions import cancel_batch, close_batch
from jobs.pages.answers import cancelled, existing
from jobs.reading import listing
from jobs.store import EVERY_TENANT, Progress

MAX_JOBS = 50  # that are listed


@page_for("jobs.view_job")
def show(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a batch with its first jobs, failures first, and the actions on all of them."""
    batch = _batch(pk)
    regions = {
        "batch": batch,
        "tenant": present_queries.tenants({batch.tenant_id}).get(batch.tenant_id),
        "after": store.waiting_for(pk, tenant_id=EVERY_TENANT),
        "jobs": listing.failures_first(batch, MAX_JOBS, tenant=None),
        "all": {"q": f"batch:{pk}", "upto": listing.newest(), "all": 1},  # the fields of an action on all jobs
    }
    every = 0 if batch.is_complete else live.REFRESH_SECONDS
    return live.page(request, "batch", f"Batch {pk}", ("head", "jobs"), regions, every=every)


@action_for("jobs.change_job")
def cancel(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Cancel the waiting jobs of a batch, and ask the running ones to stop; after a confirmation if they are many."""
    batch = _batch(pk)
    if batch.total - batch.ended > MAX_UNASKED and "sure" not in request.POST:
        return plain_page(request, "batch/cancel", "Cancelling", {"batch": batch})
    count = cancel_batch(pk, tenant_id=EVERY_TENANT)
    return done(request, cancelled(count, goes_on=_batch(pk).cancelling))


def _batch(pk: int) -> Progress:
    return existing(store.read_batch(pk, tenant_id=EVERY_TENANT), f"There is no batch {pk:,}.")


@action_for("jobs.change_job")
def close(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Close a batch: after that only its own jobs can add jobs to it."""
    if not close_batch(_batch(pk).id, tenant_id=EVERY_TENANT):
        return refused(request, f"Batch {pk} is closed already.")
    return done(request, f"Batch {pk} is closed: jobs that wait for it go on when all of its jobs have ended.")
