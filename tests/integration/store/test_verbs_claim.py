"""A pass of the claim cuts its candidates at one limit after the other; what one cuts off uses up no later place."""

from datetime import timedelta

import pytest

from jobs import store
from jobs.engine.door.dispatch import dispatch
from jobs.models import Job
from jobs.store.claiming import RULES
from tests.clock import call_at
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory, make_job

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]


def test_jobs_beyond_a_tenants_slots_take_no_process_from_another_tenant(register):
    """A tenant's slots are cut in each of its lanes; two lanes together may still hold more than it has."""
    register(concurrency=2)
    full, other, second = (
        TenantFactory(queue__num_slots=1),
        TenantFactory(queue__num_slots=1),
        QueueFactory(name="second"),
    )
    make_job(full)
    make_job(full, queue=second)
    make_job(other)
    assert len(store.claim()) == 2
    assert set(Job.objects.filter(slot=1).values_list("tenant_id", flat=True)) == {full.pk, other.pk}


def test_jobs_of_two_lanes_of_a_tenant_get_different_slots(register):
    """Both have more jobs than a pass takes of a queue."""
    register(concurrency=100)
    tenant, second = TenantFactory(queue__num_slots=100), QueueFactory(name="second")
    for queue in (QueueFactory(), second):
        for _ in range(RULES["batch"] + 8):
            make_job(tenant, queue=queue)
    passes = [store.claim()]
    while passes[-1].more:
        passes.append(store.claim())
    assert sum(map(len, passes)) == Job.objects.filter(slot__lte=100).count() == 2 * (RULES["batch"] + 8)


def test_a_queues_concurrency_is_shared_by_the_tenants_of_one_pass(register):
    """It is cut in each lane, too; the lanes of two tenants together may still hold more."""
    register(concurrency=10)
    queue = QueueFactory(name="narrow", concurrency=1)
    for tenant in (TenantFactory(), TenantFactory()):
        make_job(tenant, queue=queue)
    assert len(store.claim()) == 1


def test_only_a_job_that_has_waited_for_longer_than_the_bound_is_looked_at():
    job = make_job(TenantFactory())
    assert call_at(job.ready_at + timedelta(seconds=60), store.heads, 60, 10) == []
    [(number, _)] = call_at(job.ready_at + timedelta(seconds=60, microseconds=1), store.heads, 60, 10)
    assert number == job.pk


def test_a_lane_whose_jobs_are_all_locked_does_not_hold_up_one_that_has_more_in_use(register, onlooker):
    """It comes first at each pass, which would find nothing again."""
    register(concurrency=5)
    busy, locked = (TenantFactory(queue__num_slots=5) for _ in range(2))
    store.insert([request_for(busy, n) for n in range(3)])
    assert dispatch() == 3
    jobs = [answer.id for answer in store.insert([request_for(locked, n) for n in range(12)])]
    store.insert([request_for(busy, 3)])
    onlooker.execute("BEGIN")
    onlooker.execute("SELECT FROM jobs WHERE id = ANY(%s) FOR UPDATE", [jobs])
    assert dispatch() == 1
    onlooker.execute("ROLLBACK")
