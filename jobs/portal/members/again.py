"""Run a job again with other arguments: a new job of the member who asks, if tenants may call its method."""

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from jobs.calls import registry
from jobs.calls.compose import compose_by_name
from jobs.calls.refusals import InvalidRequest, TooManyWaiting, Undecided
from jobs.engine.submit import Submitted, submit
from jobs.models import AnyJob
from jobs.pages import regions, typed
from jobs.pages.answers import SeeOther
from jobs.portal.members import shown
from jobs.reading import queries
from tenants.members import for_members
from tenants.models import Tenant


@require_http_methods(["GET", "HEAD", "POST"])
@for_members
def again(request: HttpRequest, tenant: Tenant, pk: int) -> HttpResponse:
    """The form; posted: the new job, or the form with what is wrong."""
    job = queries.job(tenant.pk, pk)
    if job is None or not may_call(job):
        raise Http404
    args, wrong = typed.shown(job), ""
    if request.method == "POST":
        args = request.POST.get("args", "").replace("\x00", "")
        try:
            submitted = _submit(job, tenant, args, str(request.user.pk))
        except (InvalidRequest, TooManyWaiting, Undecided) as refused:
            wrong = str(refused)
        else:
            there = "is under way already" if submitted.deduplicated else "is submitted"
            messages.success(request, f"Job {submitted.id} {there}.")
            return SeeOther(reverse("members:job", args=[submitted.id]))
    context = shown.common([job], tenant, request) | {"job": job, "args": args, "wrong": wrong}
    page = regions.page(request, "jobs/members/again", (), context, {"every": 0})
    page.status_code = 422 if wrong else 200
    return page


def may_call(job: AnyJob) -> bool:
    """Whether tenants may call its method over HTTP, and its arguments were not erased."""
    try:
        registry.resolve(job.source_type, job.source_method, http=True)
    except InvalidRequest:
        return False
    return not job.is_erased


def _submit(job: AnyJob, tenant: Tenant, args: str, user: str) -> Submitted:
    """As over HTTP: on the tenant's own object, in the queue of the method, for the member who asks."""
    call = {name: getattr(job, name) for name in ("source_type", "source_id", "source_method")}
    request = compose_by_name(tenant, **call, args=typed.arguments(args), by_tenant=True, user=user)
    with transaction.atomic():
        return submit(request)
