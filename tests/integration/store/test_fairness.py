"""I7, whatever happened before: random histories of pauses, caps, pools, weights, arrivals and jumps of the clock.

For any two tenants that have work and a free slot in a queue throughout an interval, what they took of the processes,
divided by their weights, differs by no more than a bound (ADR 0005), wherever the interval begins and ends. What a job
takes is the time until another job may have the process, whatever its limit, and however it ends. Where the tokens of a
queue are scarce, the same holds for tokens.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import combinations

import pytest
from django.db.models import Case, F, When

from jobs import store
from jobs.models import Job, Lane, QueueTurn
from plumbing.prepared import prepared
from tenants.models import Tenant, TenantQueue
from tests.conftest import request_for
from tests.factories import QueueFactory
from tests.fleet import Fleet, Habit
from tests.integration.store.test_no_starvation import paused_tenant, resume
from tests.thorough import sized

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]

CREDIT, QUANTUM, SLOT = 1.0, 0.3, 1.0  # seconds, as in store/claiming.py and claim/room.sql
PROCESSES, LONGEST, GRACE = 4, 3.0, 3.0
COSTS = 1.1  # seconds of a process that a crash ends, as in fold.sql
STEPS = 30
ABLE = """
SELECT t.tenant_id FROM tenant_queues t
WHERE NOT t.paused
  AND EXISTS (
      SELECT FROM jobs j JOIN queues q ON q.id = j.queue_id
      WHERE j.tenant_id = t.tenant_id AND q.name = %(queue)s AND j.ready_at IS NOT NULL
  )
  AND t.num_slots > (SELECT count(*) FROM jobs j WHERE j.tenant_id = t.tenant_id AND j.slot IS NOT NULL)
"""
TOKENS_PER_SECOND, MANY = 10, 40  # processes: more than so many tokens let run


def bound(one: int, other: int, longest: float = LONGEST + GRACE) -> float:
    """Worker-seconds by weight: what runs at once, and what the rules allow anybody to be ahead or behind.

    longest: the most seconds that a job may be charged, which are its limit and the grace if the clock jumps.
    """
    ahead = PROCESSES * (longest + COSTS + SLOT) + QUANTUM + CREDIT
    return ahead / one + ahead / other


def bound_of_tokens(burst: int, longest: float, one: int, other: int) -> float:
    """The same in tokens: of what runs at once, and those of the fuller half of the bucket, which are not scarce."""
    ahead = TOKENS_PER_SECOND * longest + burst + 1
    return ahead / one + ahead / other


@dataclass
class Witness:
    """What each tenant took in a queue so far, and for each pair since when both could have been served."""

    fleet: Fleet
    bound: Callable[[int, int], float] = bound
    leads: dict[tuple[int, int], list[float]] = field(default_factory=dict)
    judged: int = 0

    def look(self, weights: dict[int, int], queue: str) -> None:
        """Note the leads of this moment, and judge each pair since both can be served."""
        self.judge(self.fleet.worked(queue), weights, queue)

    def judge(self, took: Mapping[int, float], weights: dict[int, int], queue: str) -> None:
        able = self._able(queue)
        for one, other in combinations(sorted(weights), 2):
            if not {one, other} <= able:
                self.leads.pop((one, other), None)
                continue
            leads = self.leads.setdefault((one, other), [])
            leads.append(took[one] / weights[one] - took[other] / weights[other])
            spread = max(leads) - min(leads)
            self.judged += len(leads) > 1
            assert spread <= self.bound(weights[one], weights[other]), (one, other, spread)

    def _able(self, queue: str) -> set[int]:
        """The tenants that have work there and a free slot."""
        return {tenant for (tenant,) in prepared(ABLE, queue=queue)}


def change(tenant: Tenant, **limits: object) -> None:
    """Without the dispatch that would follow: all are the fleet's, in its own time."""
    TenantQueue.objects.filter(tenant=tenant).update(**limits)


def habits_of(draw: random.Random, tenants: list[Tenant]) -> tuple[dict[int, Habit], dict[int, float | None]]:
    """By tenant: what its jobs do, and their time limit: one tenant's are over theirs."""
    seconds = [0.05, 0.4, 1.0, LONGEST]
    over, crashes, cancelled, *_ = draw.sample([tenant.pk for tenant in tenants], len(tenants))
    habits = {tenant.pk: Habit(draw.choice(seconds)) for tenant in tenants}
    habits |= {
        over: Habit(draw.choice(seconds[1:])),
        crashes: Habit(draw.choice(seconds[:2]), "crashes"),
        cancelled: Habit(0.5, "cancelled"),
    }
    return habits, dict.fromkeys(habits) | {over: 0.1}


@pytest.mark.parametrize("seed", range(sized(2, thorough=5)))
def test_two_tenants_with_work_and_a_free_slot_get_the_same_whatever_happened_before(fleet, seed, settings):
    settings.JOBS_DEFAULT_TIMEOUT, settings.JOBS_TIMEOUT_GRACE = LONGEST, GRACE
    draw = random.Random(seed)
    QueueFactory(name="other", weight=draw.choice([1, 3]))
    QueueFactory(name="elsewhere", pool="gpu")
    tenants = [paused_tenant(queue__weight=draw.choice([1, 1, 2, 5])) for _ in range(4)]
    weights = {tenant.pk: tenant.jobs_queue.weight for tenant in tenants}
    habits, limits = habits_of(draw, tenants)
    workers = fleet(PROCESSES, habits)
    fleet(2, habits, pool="gpu")
    resume(*tenants)
    for tenant in tenants:
        store.insert([request_for(tenant, n, timeout=limits[tenant.pk]) for n in range(250)])
    witness = Witness(workers)
    for _ in range(STEPS):
        tenant = draw.choice(tenants)
        match draw.randrange(10):
            case 0 | 1 | 2 | 3:
                queue = draw.choice(["default", "default", "other", "elsewhere"])
                more = range(draw.randrange(20, 200))
                store.insert([request_for(tenant, n, queue=queue, timeout=limits[tenant.pk]) for n in more])
            case 4:
                change(tenant, paused=Case(When(paused=True, then=False), default=True))
            case 5:
                change(tenant, num_slots=draw.choice([0, 1, 3, 50, 50]))
            case 6:
                workers.now += timedelta(seconds=draw.choice([-0.5, 0, 5, 600]))
        workers.run(draw.randrange(1, 40), after_each=lambda: witness.look(weights, "default"))
    assert witness.judged > 100


@pytest.mark.parametrize("seed", range(sized(3, thorough=8)))
def test_ready_tenants_get_their_shares_whatever_becomes_of_their_jobs(fleet, seed, settings):
    """Nobody pauses and no clock jumps, so what is not charged adds up: limits below bodies, crashes, cancels."""
    settings.JOBS_DEFAULT_TIMEOUT, settings.JOBS_TIMEOUT_GRACE = LONGEST, GRACE
    draw = random.Random(seed)
    tenants = [paused_tenant(queue__weight=draw.choice([1, 1, 2, 5])) for _ in range(4)]
    weights = {tenant.pk: tenant.jobs_queue.weight for tenant in tenants}
    habits, limits = habits_of(draw, tenants)
    workers = fleet(PROCESSES, habits)
    resume(*tenants)
    for tenant in tenants:
        store.insert([request_for(tenant, n, timeout=limits[tenant.pk]) for n in range(300)])
    witness = Witness(workers, partial(bound, longest=max(one.seconds for one in habits.values())))
    workers.run(250, after_each=lambda: witness.look(weights, "default"))
    assert witness.judged > 100


@pytest.mark.parametrize("seed", range(sized(2, thorough=5)))
def test_where_tokens_are_scarce_they_are_shared_whatever_becomes_of_the_jobs(fleet, seed):
    draw = random.Random(seed)
    burst = draw.choice([1, 2, 10])
    QueueFactory(name="limited", rate_limit=burst, rate_window=burst / TOKENS_PER_SECOND)
    tenants = [paused_tenant(queue__weight=draw.choice([1, 1, 2, 5])) for _ in range(3)]
    weights = {tenant.pk: tenant.jobs_queue.weight for tenant in tenants}
    ends = [Habit(0.05), Habit(1.0), Habit(0.02, "cancelled")]
    draw.shuffle(ends)
    workers = fleet(MANY, dict(zip(weights, ends, strict=True)))
    resume(*tenants)
    for tenant in tenants:
        store.insert([request_for(tenant, n, queue="limited") for n in range(300)])
    witness = Witness(workers, partial(bound_of_tokens, burst, 1.0))

    def look() -> None:
        witness.judge({pk: workers.claims["limited", pk] for pk in weights}, weights, "limited")

    workers.run(250, after_each=look, tokens=True)
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
