"""The page of batches: the list with their progress."""

from django.http import HttpRequest, HttpResponse

from jobs.console.ops.shared import live, present_queries
from jobs.console.ops.shared.access import page_for
from jobs.pages.typed import number
from jobs.reading import listing
from jobs.store import EVERY_TENANT

A_PAGE = 50


@page_for("jobs.view_job")
def show(request: HttpRequest) -> HttpResponse:
    batches, older = listing.batches(A_PAGE, tenant_id=EVERY_TENANT, before=number(request.GET.get("before", "")))
    tenants = present_queries.tenants({batch.tenant_id for batch in batches})
    regions = {"batches": [(batch, tenants.get(batch.tenant_id)) for batch in batches], "older": older}
    return live.page(request, "batches", "Batches", (), regions, every=0)
