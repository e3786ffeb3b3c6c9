"""Batches: how far each is; and one, with its jobs, failures first."""

import re

from django.http import Http404, HttpRequest, HttpResponse

from jobs import store
from jobs.console.ops import live, looks, snapshot
from jobs.console.ops.access import page_for
from jobs.reading import listing
from jobs.store import EVERY_TENANT

A_PAGE = 50


@page_for("jobs.view_job")
def show(request: HttpRequest) -> HttpResponse:
    asked = request.GET.get("before", "")
    before = int(asked) if re.fullmatch("[0-9]{1,18}", asked) else store.batches.LARGEST_ID
    found = store.read_batches(tenant_id=EVERY_TENANT, before=before, most=A_PAGE)
    names = looks.tenants({one.tenant_id for one in found})
    shown = {
        "snapshot": snapshot.current(),
        "batches": [(one, names.get(one.tenant_id)) for one in found],
        "older": found[-1].id if len(found) == A_PAGE else None,
    }
    return live.page(request, "batches", "Batches", (), shown, every=0)


@page_for("jobs.view_job")
def one(request: HttpRequest, pk: int) -> HttpResponse:
    """Its first jobs, failures first, and what may be done to all of them."""
    batch = store.read_batch(pk, tenant_id=EVERY_TENANT)
    if batch is None:
        raise Http404(f"There is no batch {pk:,}.")
    shown = {
        "snapshot": snapshot.current(),
        "batch": batch,
        "tenant": looks.tenants({batch.tenant_id}).get(batch.tenant_id),
        "after": store.waiting_for(pk, tenant_id=EVERY_TENANT),
        "jobs": listing.failures_first(batch, A_PAGE, tenant=None),
        "upto": listing.newest(),
    }
    every = 0 if batch.is_complete else live.REFRESH_SECONDS
    return live.page(request, "batch", f"Batch {pk}", ("head", "jobs"), shown, every=every)
