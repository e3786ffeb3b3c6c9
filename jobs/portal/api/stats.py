"""The endpoint of a tenant's counts. Each count reads a partial index of just those rows, or only a few rows."""

from dataclasses import asdict
from typing import Literal

from django.db.models import Count, Q
from django.utils import timezone
from ninja import Router, Schema
from pydantic import Field

from jobs.http.auth import CallerRequest
from jobs.http.last_day import LastDay
from jobs.lifecycle import FINAL, Status
from jobs.models import HELD_UNTIL, Job, Queue
from jobs.reading import last_day, queries
from jobs.reading.budgets import standings
from jobs.reading.slots_in_queues import slots_in_queues
from tenants.models import TenantQueue

router = Router(tags=["jobs"])
MAX_COUNTED = 1000  # jobs; counting all ended jobs would read millions


class SlotsOfQueue(Schema):
    queue: str
    in_use: int
    limit: int


class Budget(Schema):
    """A budget of this month, in UTC. Jobs that run when it is used up may go beyond it."""

    unit: str
    used: int = Field(description="What your attempts that ended in this month have used.")
    amount: int
    state: Literal["open", "low", "used up"] = Field(
        description="low: 80 % or more is used; used up: jobs that spend it wait for the next month."
    )


class Slots(Schema):
    in_use: int
    limit: int
    with_borrowed: int | None = Field(
        description="The most slots, borrowed ones included, while processes stand idle. Null: you borrow none."
    )
    per_user: int | None = Field(description="Null: no limit per user.")
    in_queues: list[SlotsOfQueue] = Field(
        description="Queues in which you hold slots, but may not hold all of yours: how many you hold, and the most."
    )
    paused: bool


class UnderWay(Schema):
    """Jobs that have not ended, by status; `held`: scheduled jobs whose job type is paused, or a budget is used up."""

    blocked: int
    scheduled: int
    held: int
    created: int
    queued: int
    running: int


class Ended(Schema):
    """The ended jobs among the latest ones, by status."""

    among: int = Field(description=f"The number of your latest jobs that were counted: at most {MAX_COUNTED}.")
    success: int
    error: int
    dead: int
    cancelled: int


class Stats(Schema):
    slots: Slots
    under_way: UnderWay
    ended: Ended
    last_day: LastDay
    budgets: list[Budget]


@router.get("stats", response=Stats)
def read_stats(request: CallerRequest) -> Stats:
    """Count your unfinished jobs, your slots in use, your latest ended jobs, and the attempts of the last 24 hours."""
    tenant_id = request.auth.tenant.pk
    under_way, limits = _under_way(tenant_id), TenantQueue.of(request.auth.tenant)
    return Stats(
        slots=Slots(
            in_use=under_way.queued + under_way.running,
            limit=limits.num_slots,
            with_borrowed=limits.burst_slots,
            per_user=limits.user_slots,
            in_queues=[SlotsOfQueue(**asdict(one)) for one in slots_in_queues(limits)],
            paused=limits.paused,
        ),
        under_way=under_way,
        ended=_ended(tenant_id),
        last_day=LastDay.of(last_day.of_tenant(tenant_id, timezone.now())),
        budgets=[Budget(**one.facts()) for one in (standings([tenant_id]) if limits.budgets else [])],
    )


def _under_way(tenant_id: int) -> UnderWay:
    jobs = Job.objects.filter(tenant=tenant_id)
    of_paused_type = Q(due_at=HELD_UNTIL)
    # A partial index of the scheduled jobs: jobs that have ended are not read.
    scheduled = jobs.filter(due_at__isnull=False).aggregate(
        scheduled=Count("pk", ~of_paused_type), held=Count("pk", of_paused_type)
    )
    # Name every queue: the index jobs_claim begins with the queue, then the tenant.
    created = jobs.filter(ready_at__isnull=False, queue__in=list(Queue.objects.values_list("pk", flat=True))).count()
    blocked = jobs.filter(blocked_at__isnull=False).count()
    holding = dict(jobs.filter(slot__isnull=False).values_list("status").annotate(Count("pk")))
    return UnderWay(
        **scheduled,
        blocked=blocked,
        created=created,
        queued=holding.get(Status.QUEUED, 0),
        running=holding.get(Status.RUNNING, 0),
    )


def _ended(tenant_id: int) -> Ended:
    statuses = list(queries.jobs(tenant_id).values_list("status", flat=True)[:MAX_COUNTED])
    return Ended(among=len(statuses), **{status.value: statuses.count(status) for status in FINAL})
