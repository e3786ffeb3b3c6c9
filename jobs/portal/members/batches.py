"""The pages of the tenant's batches: a list with their progress, and one batch with its jobs, failures first.

Another tenant's batch looks as if it did not exist.
"""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from jobs import store
from jobs.calls.refusals import TooManyWaiting
from jobs.engine.verbs.batch_actions import MOST, cancel_batch, close_batch, revive_batch
from jobs.pages import regions
from jobs.pages.answers import SeeOther, back, cancelled, existing
from jobs.pages.typed import number
from jobs.portal.members import page_context
from jobs.portal.members.views import A_PAGE, REFRESH_SECONDS
from jobs.reading import listing
from jobs.reading.listing import Page
from jobs.store import Progress
from plumbing.text import count_of_jobs
from tenants.members import for_members
from tenants.models import Tenant


@require_safe
@for_members
def batch_list(request: HttpRequest, tenant: Tenant) -> HttpResponse:
    found, older = listing.batches(A_PAGE, tenant_id=tenant.pk, before=number(request.GET.get("before", "")))
    context = page_context.common([], tenant, request) | {"batches": found, "older": older}
    return regions.page(request, "jobs/members/batches", (), context, {"every": 0})


@require_safe
@for_members
def batch_detail(request: HttpRequest, tenant: Tenant, pk: int) -> HttpResponse:
    batch = _batch(tenant, pk)
    jobs = listing.failures_first(batch, A_PAGE, tenant=tenant)
    context = page_context.common(jobs, tenant, request) | {
        "batch": batch,
        "after": store.waiting_for(pk, tenant_id=tenant.pk),
        "page": Page(jobs, None),
        "standing": page_context.standing(jobs, tenant),
        "newer": (0, False),
        "here": request.path,
    }
    frame = {"every": 0 if batch.is_complete else REFRESH_SECONDS}
    return regions.page(
        request, "jobs/members/batch", ("jobs/members/batch/head", "jobs/members/jobs/list"), context, frame
    )


@require_POST
@for_members
def cancel(request: HttpRequest, tenant: Tenant, pk: int) -> HttpResponse:
    """Cancel the waiting jobs of a batch, and ask its running jobs to stop, as the API does."""
    _batch(tenant, pk)
    applied = cancel_batch(pk, tenant_id=tenant.pk)
    messages.success(request, cancelled(applied, goes_on=_batch(tenant, pk).cancelling))
    return SeeOther(back(request, reverse("jobs_members:batch", args=[pk])))


@require_POST
@for_members
def close(request: HttpRequest, tenant: Tenant, pk: int) -> HttpResponse:
    """Close a batch, as the API does: from now on only its own jobs can add to it."""
    _batch(tenant, pk)
    close_batch(pk, tenant_id=tenant.pk)
    messages.success(request, "The batch is closed: jobs that wait for it go on when all of its jobs have ended.")
    return SeeOther(back(request, reverse("jobs_members:batch", args=[pk])))


@require_POST
@for_members
def run_again(request: HttpRequest, tenant: Tenant, pk: int) -> HttpResponse:
    """Give the failed and cancelled jobs of a batch a new series of attempts, as the API does."""
    _batch(tenant, pk)
    try:
        applied = revive_batch(pk, tenant_id=tenant.pk)
    except TooManyWaiting as refused:
        messages.error(request, f"Not all run again: {refused}.")
    else:
        again = " There may be more: press it again." if applied >= MOST else ""
        messages.success(request, f"{count_of_jobs(applied).capitalize()} will run again.{again}")
    return SeeOther(back(request, reverse("jobs_members:batch", args=[pk])))


def _batch(tenant: Tenant, pk: int) -> Progress:
    return existing(store.read_batch(pk, tenant_id=tenant.pk))
