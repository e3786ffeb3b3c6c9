"""The page of a tenant: the jobs in its slots, where its jobs wait, its past, and the form of its limits."""

from collections import Counter

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from jobs.conf import settings
from jobs.console.operations.limits import OF_TENANT
from jobs.console.ops import history_charts, live, present_queries, snapshot
from jobs.console.ops.access import page_for
from jobs.console.ops.views.limits import form_of
from jobs.models import Job
from jobs.pages.answers import existing
from jobs.reading import waits
from jobs.reading.predictor import of_lanes
from jobs.reading.standing import of_tenants
from plumbing.names import kind_of, named
from plumbing.text import storable
from tenants.models import Change, Tenant, TenantQueue
from tenants.tenant_model import tenant_of_slug

MAX_SLOTS = 100  # how many are listed
MAX_CHANGES = 10


@page_for("tenants.view_tenantqueue")
def show(request: HttpRequest, slug: str) -> HttpResponse:
    tenant = existing(tenant_of_slug(storable(slug)), f"There is no tenant {slug}.")
    seen = snapshot.current()
    lanes = present_queries.lanes_of({tenant.pk})
    cuts = waits.cuts(lanes, seen.queues)
    [standing] = of_tenants(present_queries.tenants({tenant.pk}).values(), lanes, seen.queues, seen.now, cuts)
    starts = of_lanes((tenant.pk, lane.queue_id) for lane in lanes)
    limits = TenantQueue.of(tenant)
    length = request.GET.get("range", "")
    length = length if length in history_charts.OF_TENANT else next(iter(history_charts.OF_TENANT))
    chart, types = history_charts.past_of(tenant.pk, tenant.jobs_slug, length, reverse("jobs_ops:jobs"))
    slots = _slots(request, tenant)
    shown = {
        "snapshot": seen,
        "tenant": tenant,
        "limits": limits,
        "form": form_of(limits, OF_TENANT),
        "standing": standing,
        "slots": slots,
        "users": Counter(job.user_key for job in slots if job.user_key).most_common(),
        "most_waiting": settings.JOBS_MAX_WAITING if limits.max_waiting is None else limits.max_waiting,
        "lanes": [
            (
                lane,
                seen.queues.get(lane.queue_id),
                [(cut.gate, cut.jobs) for cut in cuts if cut.queue_id == lane.queue_id],
                starts.get((tenant.pk, lane.queue_id)),
            )
            for lane in lanes
        ],
        "length": length,
        "lengths": history_charts.OF_TENANT,
        "bar": history_charts.OF_TENANT[length][0].total_seconds(),
        "chart": chart,
        "types": [(".".join(name), summary) for name, summary in types.items()],
        "used": history_charts.use_of_day(tenant.pk),
        "changes": _changes(request, limits),
    }
    return live.page(request, "tenant", tenant.jobs_name, ("old", "now", "limits", "lanes", "past", "changes"), shown)


def _slots(request: HttpRequest, tenant: Tenant) -> list[Job]:
    """Return the jobs in the slots; none for users who may not see jobs. Index: jobs_one_job_per_slot."""
    if not request.user.has_perm(named("jobs.view_job")):
        return []
    held = Job.objects.filter(tenant=tenant, slot__isnull=False).order_by("slot")
    return list(held.select_related("queue").defer("args", "stats")[:MAX_SLOTS])


def _changes(request: HttpRequest, limits: TenantQueue) -> list[Change]:
    if limits.pk is None or not request.user.has_perm(named("tenants.view_change")):
        return []
    of_limits = Change.objects.filter(kind=kind_of(TenantQueue), subject_id=str(limits.pk))
    return list(of_limits.order_by("-at")[:MAX_CHANGES])
