"""The page of a tenant: the jobs in its slots, where its jobs wait, its past, and the form of its limits."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from jobs.allocation.gates import Gate
from jobs.conf import settings
from jobs.console.operations.limits import OF_TENANT
from jobs.console.operations.questions import TENANTS
from jobs.console.ops.shared import live, meanings, present_queries, snapshot
from jobs.console.ops.shared.access import action_for, page_for
from jobs.console.ops.shared.limits_form import change_limits, form_of
from jobs.console.ops.shared.marks import marks_of
from jobs.console.ops.tenant.reads import past_of
from jobs.engine.verbs import limits
from jobs.models import Job
from jobs.pages.answers import existing
from jobs.reading import waits
from jobs.reading.budgets import standings
from jobs.reading.health.looks import BudgetLook
from jobs.reading.looking import Lane, Queue
from jobs.reading.predictor import is_registered, of_lanes
from jobs.reading.slots_in_queues import SlotsInQueue, slots_in_queues
from jobs.reading.standing import TenantStanding, of_tenants
from jobs.reading.starts import LaneStarts
from jobs.reading.waits import Cut
from plumbing.names import kind_of, named
from plumbing.text import storable
from tenants.models import Change, Tenant, TenantQueue
from tenants.moving import address_of
from tenants.tenant_model import tenant_of_slug

MAX_SLOTS = 100  # how many are listed
MAX_CHANGES = 10


@dataclass(frozen=True)
class TenantNow:
    """The jobs and slots of a tenant now.

    slots: the jobs in its slots
    in_queues: the slots by queue, where it may not hold all
    budgets: those of the month
    users: the slots by user, most first
    max_waiting: the waiting jobs that it may have
    """

    standing: TenantStanding
    slots: list[Job]
    in_queues: list[SlotsInQueue]
    budgets: list[BudgetLook]
    users: list[tuple[str, int]]
    max_waiting: int


@dataclass(frozen=True)
class LaneRow:
    """A lane of the tenant, with the number of jobs by what they wait for."""

    lane: Lane
    queue: Queue | None
    gates: list[tuple[Gate, int]]
    starts: LaneStarts | None


@page_for("tenants.view_tenantqueue")
def show(request: HttpRequest, slug: str) -> HttpResponse:
    tenant = existing(tenant_of_slug(storable(slug)), f"There is no tenant {slug}.")
    present = snapshot.current()
    lanes = present_queries.lanes_of({tenant.pk})
    cuts = waits.cuts(lanes, present.queues)
    [standing] = of_tenants(present_queries.tenants({tenant.pk}).values(), lanes, present.queues, present.now, cuts)
    limits = TenantQueue.of(tenant)
    past = past_of(tenant, limits.num_slots or 0, request.GET.get("range", ""), reverse("jobs_ops:jobs"))
    regions = {
        "snapshot": present,
        "tenant": tenant,
        "address": address_of(tenant.pk) if limits.moving else "",
        "limits": limits,
        "form": form_of(limits, OF_TENANT),
        "present": _present(request, tenant, standing, limits),
        "meaning": meanings.TENANT_STATES[standing.state],
        "forecasts": is_registered(),
        "lanes": _lanes(tenant, lanes, cuts, present.queues),
        "past": past,
        "marks": marks_of(request, past.chart, tenant.pk),
        "changes": _changes(request, limits),
    }
    return live.page(request, "tenant", tenant.jobs_name, ("old", "now", "limits", "lanes", "past", "changes"), regions)


def _present(request: HttpRequest, tenant: Tenant, standing: TenantStanding, limits: TenantQueue) -> TenantNow:
    slots = _slots(request, tenant)
    users = Counter(job.user_key for job in slots if job.user_key).most_common()
    max_waiting = settings.JOBS_MAX_WAITING if limits.max_waiting is None else limits.max_waiting
    budgets = standings([tenant.pk]) if limits.budgets else []
    return TenantNow(standing, slots, slots_in_queues(limits), budgets, users, max_waiting)


def _lanes(tenant: Tenant, lanes: list[Lane], cuts: list[Cut], queues: Mapping[int, Queue]) -> list[LaneRow]:
    starts = of_lanes((tenant.pk, lane.queue_id) for lane in lanes)
    return [
        LaneRow(
            lane,
            queues.get(lane.queue_id),
            [(cut.gate, cut.jobs) for cut in cuts if cut.queue_id == lane.queue_id],
            starts.get((tenant.pk, lane.queue_id)),
        )
        for lane in lanes
    ]


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


@action_for("tenants.change_tenantqueue")
@transaction.atomic
def change(request: HttpRequest, slug: str) -> HttpResponse:
    tenant = existing(tenant_of_slug(storable(slug)))
    return change_limits(request, limits.locked_slots(tenant), OF_TENANT, str(tenant), subject=(TENANTS, slug))
