"""The pages of the tenant's jobs: the list, one job, and its actions.

Another tenant's job looks as if it did not exist.
"""

from uuid import uuid4

from django.contrib import messages
from django.db import transaction
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from jobs.calls import registry
from jobs.calls.compose import compose_by_name
from jobs.calls.refusals import InvalidRequest, TooManyWaiting, Undecided
from jobs.engine.submitting.submit import Submitted, submit
from jobs.engine.verbs.cancel import Cancellation, cancel, cancel_all
from jobs.engine.verbs.revive import revive
from jobs.lifecycle import FINAL, Status
from jobs.models import AnyJob
from jobs.pages import regions, typed
from jobs.pages.answers import SeeOther, back, existing
from jobs.pages.forms import query_with
from jobs.pages.prediction_accuracy import keep
from jobs.portal.members import page_context
from jobs.portal.members.under_way import GROUPS, MOST, failed_since, in_line, under_way
from jobs.reading import listing, queries
from jobs.reading.listing import Sought
from jobs.reading.status_words import TABLE, WORDS
from plumbing.text import count_of_jobs
from tenants import audit
from tenants.members import for_members
from tenants.models import Tenant

A_PAGE = 25
TABS = [("", "All"), (Status.SUCCESS.value, "Done"), (Status.CANCELLED.value, "Cancelled")]  # beside the numbers
A_STEP = 100  # jobs that are cancelled in one transaction
REFRESH_SECONDS = 3  # seconds between two refreshes of a page
LIST_REGIONS = tuple(f"jobs/members/jobs/{name}" for name in ("numbers", "slots", "first", "list", "schedules"))
JOB_REGIONS = ("jobs/members/job/head", "jobs/members/job/why", "jobs/members/job/attempts", "jobs/members/job/facts")


@require_safe
@for_members
def job_list(request: HttpRequest, tenant: Tenant) -> HttpResponse:
    """List the tenant's jobs, filtered by the parameters of the address.

    `status`: only jobs of this status, or of a group of `under_way.GROUPS`.
    `mine`: "1": only the jobs of this member.
    `batch`, `sequence`: only the jobs of this one.
    `before`: only jobs with a lower id.

    Without a filter there are two lists: the jobs that have not ended, and those that have, up to `upto`.
    """
    sought, before = _sought(request, tenant), typed.number(request.GET.get("before", ""))
    upto = typed.number(request.GET.get("upto", ""))
    now, wanted = under_way(tenant.pk, page_context.GROUPS), request.GET.get("status", "")
    is_whole = not (sought.status or sought.statuses or sought.batch or sought.others or before)
    if is_whole:
        sought = Sought(tenant, statuses=FINAL)
        page = listing.page(sought, A_PAGE, before=upto and upto + 1)
        first = page_context.listed(now.shown, tenant)
    else:
        page, first = listing.page(sought, A_PAGE, before=before), []
    top = page.jobs[0].pk if page.jobs else upto if is_whole else before and before - 1
    stays = query_with(request.GET, **({"upto": top} if is_whole else {"before": top and top + 1}))
    jobs = [*first, *page.jobs]
    context = page_context.common(jobs, tenant, request) | {
        "page": page,
        "under_way": now,
        "first": page_context.standing(first, tenant, now.told),
        "standing": page_context.standing(page.jobs, tenant, now.told if wanted == "waiting" else ()),
        "lines": len({job.queue_id for job in jobs if job.status == Status.CREATED}),
        "slots": page_context.slots(tenant),
        "schedules": page_context.schedules(tenant),
        "newer": (0, False) if top is None else listing.newer(sought, upto=top),
        "failed_today": failed_since(tenant.pk, timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)),
        "sought": sought,
        "is_whole": is_whole,
        "wanted": wanted,
        "tabs": TABS if wanted in dict(TABS) or wanted not in WORDS else [*TABS, (wanted, WORDS[Status(wanted)])],
        "is_mine": request.GET.get("mine") == "1",
        "here": request.path + stays,
    }
    # A refresh asks for the jobs that are shown: no row moves while a member is about to press its button.
    frame = {"states": TABLE, "every": REFRESH_SECONDS, "ask": stays}
    return regions.page(request, "jobs/members/jobs", LIST_REGIONS, context, frame)


def _sought(request: HttpRequest, tenant: Tenant) -> Sought:
    """Return the filters of the address; invalid ones are left out."""
    status, batch = request.GET.get("status", ""), typed.number(request.GET.get("batch", ""))
    others = Q(user_key=str(request.user.pk)) if request.GET.get("mine") == "1" else Q()
    if sequence := request.GET.get("sequence"):
        others &= Q(sequence=sequence)
    if status in GROUPS:
        return Sought(tenant, None, batch, others, GROUPS[status])
    return Sought(tenant, Status(status) if status in set(Status) else None, batch, others)


@require_http_methods(["GET", "HEAD", "POST"])
@for_members
def cancel_waiting(request: HttpRequest, tenant: Tenant) -> HttpResponse:
    """Cancel the jobs of the tenant that are in line, whichever member submitted them. GET asks, POST does it.

    `queue`: only those of these queues.
    `upto`: the highest id that there was when it was asked.
    """
    asked = request.POST if request.method == "POST" else request.GET
    queues = [pk for text in asked.getlist("queue") if (pk := typed.number(text)) is not None]
    upto = typed.number(asked.get("upto", "")) or listing.newest()
    ids = in_line(tenant.pk, queues, upto)
    if request.method != "POST":
        context = page_context.common([], tenant, request) | {"ids": ids, "queues": queues, "upto": upto, "most": MOST}
        return regions.page(request, "jobs/members/cancel_waiting", (), context, {"every": 0})
    applied, bulk = 0, uuid4()
    for first in range(0, len(ids), A_STEP):
        with audit.in_bulk(bulk, "status:created"):
            outcomes = cancel_all(ids[first : first + A_STEP], tenant_id=tenant.pk)
        applied += sum(outcome is not Cancellation.TOO_LATE for outcome in outcomes.values())
    more = " There may be more: press it again." if len(ids) >= MOST else ""
    messages.success(request, f"{count_of_jobs(applied).capitalize()} cancelled, or asked to stop.{more}")
    return SeeOther(reverse("jobs_members:jobs"))


@require_safe
@for_members
def job_detail(request: HttpRequest, tenant: Tenant, pk: int) -> HttpResponse:
    """Show one job: why it waits or how it ended, its attempts, times and arguments."""
    job = _job(tenant, pk)
    context = page_context.common([job], tenant, request) | page_context.detail(request, job, tenant)
    context["may_call"] = may_call(job)
    frame = {"every": REFRESH_SECONDS if context["may_cancel"] else 0}
    page = regions.page(request, "jobs/members/job", JOB_REGIONS, context, frame)
    return keep(page, request, job, context["starts"])


@require_POST
@for_members
def cancel_job(request: HttpRequest, tenant: Tenant, pk: int) -> HttpResponse:
    """Cancel a job of the tenant, no matter which user submitted it, as the API does."""
    _job(tenant, pk)
    outcome = cancel(pk, tenant_id=tenant.pk)
    if outcome is Cancellation.TOO_LATE:
        messages.error(request, f"Job {pk} had already ended.")
    else:
        done = outcome is Cancellation.CANCELLED
        messages.success(request, f"Job {pk} is cancelled." if done else f"Job {pk} was asked to stop.")
    return SeeOther(back(request, reverse("jobs_members:jobs")))


@require_POST
@for_members
def run_again(request: HttpRequest, tenant: Tenant, pk: int) -> HttpResponse:
    """Give a failed or cancelled job of the tenant a new series of attempts, as the API does."""
    _job(tenant, pk)
    try:
        revived = revive(pk, tenant_id=tenant.pk)
    except TooManyWaiting as refused:
        messages.error(request, f"{refused}.")
        return SeeOther(back(request, reverse("jobs_members:jobs")))
    if revived:
        messages.success(request, f"Job {pk} runs again when its turn comes.")
    elif (job := _job(tenant, pk)).is_erased:
        messages.error(request, f"The arguments of job {pk} were erased: it cannot run again.")
    elif job.barred:
        messages.error(request, f"Job {pk} was ended by an operator: only an operator can run it again.")
    else:
        messages.error(request, f"Job {pk} has not failed: it is under way, or done.")
    return SeeOther(back(request, reverse("jobs_members:jobs")))


@require_http_methods(["GET", "HEAD", "POST"])
@for_members
def again(request: HttpRequest, tenant: Tenant, pk: int) -> HttpResponse:
    """Run a job again with other arguments: a new job of the member who asks, if tenants may call its method.

    GET shows the form. POST submits the new job, or shows the form again with the error.
    """
    job = _job(tenant, pk)
    if not may_call(job):
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
            return SeeOther(reverse("jobs_members:job", args=[submitted.id]))
    context = page_context.common([job], tenant, request) | {"job": job, "args": args, "wrong": wrong}
    page = regions.page(request, "jobs/members/again", (), context, {"every": 0})
    page.status_code = 422 if wrong else 200
    return page


def may_call(job: AnyJob) -> bool:
    """Return whether tenants may call the job's method over HTTP, and its arguments were not erased."""
    try:
        registry.resolve(job.source_type, job.source_method, http=True)
    except InvalidRequest:
        return False
    return not job.is_erased


def _submit(job: AnyJob, tenant: Tenant, args: str, user: str) -> Submitted:
    """Submit the job's call with other arguments, as the API does: in the method's queue, for the member who asks."""
    call = {name: getattr(job, name) for name in ("source_type", "source_id", "source_method")}
    request = compose_by_name(tenant, **call, args=typed.arguments(args), by_tenant=True, user=user)
    with transaction.atomic():
        return submit(request)


def _job(tenant: Tenant, pk: int) -> AnyJob:
    return existing(queries.job(tenant.pk, pk))
