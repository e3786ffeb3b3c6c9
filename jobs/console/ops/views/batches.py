"""Batches: how far each is, and the way to its jobs, failures first."""

import re

from django.http import HttpRequest, HttpResponse

from jobs import store
from jobs.console.ops import live, looks, snapshot
from jobs.console.ops.access import page_for
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
