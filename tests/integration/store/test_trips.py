"""A trip settles, follows, claims and starts for many seats at once, behind the guards of the single verbs."""

import pytest

from jobs import store
from jobs.models import Job
from jobs.store import Success, Trip
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]


def submit(tenant, jobs: int, **options) -> list[int]:
    return [answer.id for answer in store.insert([request_for(tenant, n, **options) for n in range(jobs)])]


def test_a_trip_starts_what_it_claims_each_in_its_own_process(register):
    QueueFactory(name="default")
    worker = register(concurrency=4, kind="light")
    owner, stranger = TenantFactory(queue__num_slots=2), TenantFactory(queue__num_slots=2)
    submit(owner, 3)
    submit(stranger, 1)
    trip = Trip(worker, "default", free=[7, 7, 8, 8], claims=True)
    trip.make()
    assert [job.holder.pid for job in trip.started] == [7, 7, 8]
    assert {job.tenant_id for job in trip.started} == {owner.pk, stranger.pk}
    assert set(Job.objects.filter(status="running").values_list("worker", "worker_pid")) == {(worker, 7), (worker, 8)}
    assert trip.settled == frozenset()
    ends = Trip(worker, "default", ended=[Success(job, {"n": 1}, goes_on=True) for job in trip.started])
    ends.make()
    assert ends.settled == {(job.id, job.attempt) for job in trip.started}
    assert len(ends.followed) == 1
    assert not store.recount_books()
