"""I7: every tenant with a free slot, and every queue with a weight, gets its share, whatever the others submit."""

import pytest

from jobs.engine.submitting.submit import submit_all
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory
from tests.fleet import Habit
from tests.thorough import THOROUGH

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("exact_capacity"),
    pytest.mark.long("shares over a long time; tests/integration/store/test_fairness.py has them over a short one"),
]


def paused_tenant(**options):
    """A tenant that waits until all have submitted."""
    return TenantFactory(queue__num_slots=50, queue__paused=True, **options)


def resume(*tenants) -> None:
    type(tenants[0].jobs_queue).objects.filter(tenant__in=tenants).update(paused=False)


@pytest.mark.parametrize("processes", [1, 3])
def test_a_flood_does_not_hold_up_newcomers(fleet, processes):
    flood = paused_tenant()
    submit_all([request_for(flood, n, priority=0) for n in range(500)])
    resume(flood)
    workers = fleet(processes)
    workers.run(20)
    newcomers = [paused_tenant() for _ in range(10)]
    for tenant in newcomers:
        submit_all([request_for(tenant, priority=10)])
    resume(*newcomers)
    before = len(workers.served)
    workers.run(12)
    assert {job.tenant_id for job in workers.served[before:]} >= {tenant.pk for tenant in newcomers}


@pytest.mark.parametrize("processes", [1, 4, *([2] if THOROUGH else [])])
def test_a_tenant_of_long_jobs_gets_no_more_worker_seconds_than_one_of_short_jobs(fleet, processes):
    long, short = paused_tenant(), paused_tenant()
    submit_all([request_for(tenant, n) for n in range(600) for tenant in (long, short)])
    resume(long, short)
    workers = fleet(processes, {long.pk: 10.0, short.pk: 1.0})
    workers.run(500)
    assert workers.seconds[long.pk] == pytest.approx(workers.seconds[short.pk], rel=0.1)


@pytest.mark.parametrize("processes", [1, 5, *([2] if THOROUGH else [])])
def test_weights_of_tenants_share_the_worker_seconds_however_few_the_workers(fleet, processes):
    heavy, light = paused_tenant(queue__weight=9), paused_tenant(queue__weight=1)
    submit_all([request_for(tenant, n) for n in range(600) for tenant in (heavy, light)])
    resume(heavy, light)
    workers = fleet(processes)
    workers.run(600)
    assert workers.seconds[light.pk] == pytest.approx(60, abs=12)


def test_where_a_rate_limit_has_tokens_to_spare_it_is_the_worker_seconds_that_are_shared(fleet):
    """The other queue leaves it one process, not enough for its tokens."""
    QueueFactory(name="busy", weight=9)
    QueueFactory(name="limited", weight=1, rate_limit=20, rate_window=1)
    busy, long, short = paused_tenant(), paused_tenant(), paused_tenant()
    submit_all([request_for(busy, n, queue="busy") for n in range(300)])
    submit_all([request_for(tenant, n, queue="limited") for n in range(300) for tenant in (long, short)])
    resume(busy, long, short)
    workers = fleet(10, {long.pk: 0.4, short.pk: 0.1})
    workers.run(300)
    assert workers.seconds[long.pk] == pytest.approx(workers.seconds[short.pk], rel=0.2)


def test_a_tenant_that_was_away_has_no_credit_and_no_debt_when_it_comes_back(fleet):
    steady, away = paused_tenant(), paused_tenant()
    submit_all([request_for(steady, n) for n in range(300)])
    resume(steady)
    workers = fleet(1)
    workers.run(100)
    submit_all([request_for(away, n) for n in range(100)])
    resume(away)
    workers.run(1)
    before = dict(workers.seconds)
    workers.run(40)
    assert workers.seconds[away.pk] - before.get(away.pk, 0) == pytest.approx(20, abs=2)


@pytest.mark.parametrize("tenants", [2, 30])
def test_a_small_tenant_waits_for_the_next_free_process_and_not_for_a_round(fleet, tenants):
    many = [paused_tenant() for _ in range(tenants)]
    submit_all([request_for(tenant, n) for n in range(200 // tenants) for tenant in many])
    resume(*many)
    workers = fleet(2)
    workers.run(3 * tenants)
    first, second = TenantFactory(), TenantFactory()
    for wish in range(3):
        submit_all([request_for(first, wish)])
        submit_all([request_for(second, wish)])
        before = len(workers.served)
        workers.run(2)
        assert [job.tenant_id for job in workers.served[before : before + 2]] == [first.pk, second.pk]
        workers.run(tenants)


def test_a_small_tenant_whose_last_job_followed_in_its_slot_waits_no_longer(fleet):
    """Its lane had another job when the door saw it the last time."""
    many = [paused_tenant() for _ in range(10)]
    little = TenantFactory()
    submit_all([request_for(tenant, n) for n in range(20) for tenant in many])
    resume(*many)
    workers = fleet(1, {little.pk: Habit(0.01, "is followed")})
    workers.run(30)
    for wish in range(0, 9, 3):
        submit_all([request_for(little, wish), request_for(little, wish + 1)])
        workers.run(4)
        assert [job.tenant_id for job in workers.served].count(little.pk) == wish + 2
        submit_all([request_for(little, wish + 2)])
        before = len(workers.served)
        workers.run(1)
        assert workers.served[before].tenant_id == little.pk
        workers.run(12)


def test_a_light_queue_is_served_beside_a_heavy_one(fleet):
    QueueFactory(name="heavy", weight=99)
    tenant = paused_tenant()
    submit_all([request_for(tenant, n, queue="heavy") for n in range(300)])
    submit_all([request_for(tenant, n) for n in range(10)])
    resume(tenant)
    workers = fleet(1)
    workers.run(200)
    assert workers.queue_seconds["default"] == pytest.approx(2, abs=1)
