"""I7, whatever happened before: random histories of pauses, caps, pools, weights, arrivals and jumps of the clock.

For any two tenants that have work and a free slot in a queue throughout an interval, what they got, divided by their
weights, differs by no more than a bound (ADR 0005), wherever the interval begins and ends.
"""

import random
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import combinations

import pytest
from django.db.models import Case, Count, Exists, F, OuterRef, Subquery, When
from django.db.models.functions import Coalesce

from jobs import store
from jobs.models import Job, Lane, QueueTurn
from tenants.models import Tenant, TenantQueue
from tests.conftest import request_for
from tests.factories import QueueFactory
from tests.fleet import Fleet
from tests.integration.store.test_no_starvation import paused_tenant, resume
from tests.thorough import sized

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]

CREDIT, QUANTUM, SLOT = 1.0, 0.3, 1.0  # seconds, as in claim/capacity.sql
PROCESSES, LONGEST = 4, 3.0
STEPS = 30


def bound(one: int, other: int) -> float:
    """Worker-seconds by weight: what runs at once, and what the rules allow anybody to be ahead or behind."""
    ahead = PROCESSES * (LONGEST + SLOT) + QUANTUM + CREDIT
    return ahead / one + ahead / other


@dataclass
class Witness:
    """What each tenant got in a queue so far, and for each pair since when both could have been served."""

    fleet: Fleet
    leads: dict[tuple[int, int], list[float]] = field(default_factory=dict)
    judged: int = 0

    def look(self, weights: dict[int, int], queue: str) -> None:
        """Note the leads of this moment, and judge each pair since both can be served."""
        worked = self.fleet.worked(queue)
        able = self._able(queue)
        for one, other in combinations(sorted(weights), 2):
            if not {one, other} <= able:
                self.leads.pop((one, other), None)
                continue
            leads = self.leads.setdefault((one, other), [])
            leads.append(worked[one] / weights[one] - worked[other] / weights[other])
            spread = max(leads) - min(leads)
            self.judged += len(leads) > 1
            assert spread <= bound(weights[one], weights[other]), (one, other, spread)

    def _able(self, queue: str) -> set[int]:
        """The tenants that have work there and a free slot."""
        mine = Job.objects.filter(tenant=OuterRef("tenant"))
        in_use = mine.filter(slot__isnull=False).order_by().values("tenant").annotate(n=Count("*")).values("n")
        limits = TenantQueue.objects.filter(
            Exists(mine.filter(queue__name=queue, ready_at__isnull=False)),
            paused=False,
            num_slots__gt=Coalesce(Subquery(in_use), 0),
        )
        return set(limits.values_list("tenant", flat=True))


def change(tenant: Tenant, **limits: object) -> None:
    """Without the dispatch that would follow: all are the fleet's, in its own time."""
    TenantQueue.objects.filter(tenant=tenant).update(**limits)


@pytest.mark.parametrize("seed", range(sized(2, thorough=5)))
def test_two_tenants_with_work_and_a_free_slot_get_the_same_whatever_happened_before(fleet, seed, settings):
    settings.JOBS_DEFAULT_TIMEOUT = LONGEST
    draw = random.Random(seed)
    QueueFactory(name="other", weight=draw.choice([1, 3]))
    QueueFactory(name="elsewhere", pool="gpu")
    tenants = [paused_tenant(queue__weight=draw.choice([1, 1, 2, 5])) for _ in range(4)]
    weights = {tenant.pk: tenant.queue.weight for tenant in tenants}
    durations = {tenant.pk: draw.choice([0.05, 0.4, 1.0, LONGEST]) for tenant in tenants}
    workers = fleet(PROCESSES, durations)
    fleet(2, durations, pool="gpu")
    resume(*tenants)
    for tenant in tenants:
        store.insert([request_for(tenant, n) for n in range(250)])
    witness = Witness(workers)
    for _ in range(STEPS):
        tenant = draw.choice(tenants)
        match draw.randrange(10):
            case 0 | 1 | 2 | 3:
                queue = draw.choice(["default", "default", "other", "elsewhere"])
                store.insert([request_for(tenant, n, queue=queue) for n in range(draw.randrange(20, 200))])
            case 4:
                change(tenant, paused=Case(When(paused=True, then=False), default=True))
            case 5:
                change(tenant, num_slots=draw.choice([0, 1, 3, 50, 50]))
            case 6:
                workers.now += timedelta(seconds=draw.choice([-0.5, 0, 5, 600]))
        workers.run(draw.randrange(1, 40), after_each=lambda: witness.look(weights, "default"))
    assert witness.judged > 100


def test_when_more_lanes_than_a_pass_visits_are_all_ahead_of_their_time_somebody_is_served(fleet):
    """The round is completed over several passes; then the time moves up to the least."""
    tenants = Tenant.objects.bulk_create([Tenant(name=f"t{n}", slug=f"t{n}") for n in range(1_200)])
    TenantQueue.objects.bulk_create([TenantQueue(tenant=tenant, num_slots=1) for tenant in tenants])
    store.insert([request_for(tenant, n) for n, tenant in enumerate(tenants)])
    workers = fleet(0)
    workers.dispatch()
    Lane.objects.update(virtual_time=F("tenant_id") + 1_000_000.0)
    fleet(PROCESSES).dispatch()
    served = Job.objects.filter(slot__isnull=False).order_by("id")
    assert [job.tenant_id for job in served] == [tenant.pk for tenant in tenants[:PROCESSES]]


def test_the_time_of_a_queue_never_passes_a_lane_that_could_be_served(fleet):
    """Or its share would be lost as credit is: the time would follow whichever lane is met first."""
    heavy, light = paused_tenant(queue__weight=3), paused_tenant(queue__weight=1)
    for tenant in (heavy, light):
        store.insert([request_for(tenant, n) for n in range(300)])
    resume(heavy, light)
    workers = fleet(PROCESSES, dict.fromkeys((heavy.pk, light.pk), 0.05))

    def look() -> None:
        worked = workers.worked("default")
        least = min(worked[heavy.pk] / 3, worked[light.pk])
        assert QueueTurn.objects.latest("version").lane_time <= least + 1e-6

    workers.run(200, after_each=look)
