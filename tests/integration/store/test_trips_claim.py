"""Only the passes of its feeders claim in a light pool, each for its free seats; other passes say whom to ring."""

import pytest
from django.utils import timezone

from jobs import store
from jobs.models import Job, Queue, Worker
from jobs.store import MOST
from tests.factories import QueueFactory, TenantFactory, statuses
from tests.light import begin, ends, submit, trip

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]


def test_each_claimed_job_starts_in_the_process_of_its_own_seat(register):
    worker = register(concurrency=4, kind="light")
    owner, stranger = TenantFactory(queue__num_slots=2), TenantFactory(queue__num_slots=2)
    submit(owner, 3)
    submit(stranger, 1)
    told = trip(worker, free=[7, 7, 8, 8], claims=True)
    assert [job.holder.pid for job in told.started] == [7, 7, 8]
    assert [job.tenant_id for job in told.started].count(owner.pk) == 2, "its slots"
    assert set(Job.objects.filter(status="running").values_list("worker", "worker_pid")) == {(worker, 7), (worker, 8)}
    assert {(job.id, job.attempt) for job in told.done} == {(job.id, job.attempt) for job in told.started}
    assert not store.recount_books()


def test_a_trip_fills_a_hundred_seats_with_a_tenants_jobs_at_once(register):
    worker = register(concurrency=2 * MOST, kind="light")
    submit(TenantFactory(queue__num_slots=2 * MOST), MOST + 1)
    told = trip(worker, free=[7] * (MOST + 1), claims=True)
    assert len(told.started) == MOST
    assert not store.recount_books()


def test_the_slots_that_ended_attempts_free_are_filled_in_the_same_trip(register):
    worker = register(concurrency=2, kind="light")
    submit(TenantFactory(queue__num_slots=1), 2)
    [first] = begin(worker)
    told = trip(worker, ended=ends([first]), free=[7], claims=True)
    assert len(told.started) == 1
    assert statuses() == ["success", "running"]


def test_another_pass_leaves_a_light_pool_alone_and_says_to_ring_it(register):
    register(kind="light")
    submit(TenantFactory(), 1)
    done = store.claim()
    assert (list(done), done.rings, done.full, done.more) == ([], ("default",), False, False)


def test_a_pool_is_light_only_while_a_live_worker_of_it_is(register):
    Worker.objects.filter(pk=register(kind="light")).update(gone_at=timezone.now())
    register()
    submit(TenantFactory(), 1)
    done = store.claim()
    assert (len(done), done.rings) == (1, ())


def test_jobs_of_an_ordinary_pool_are_left_to_messages(register):
    worker, _ = register(concurrency=1, kind="light"), register(concurrency=2, pool="heavy")
    QueueFactory(name="heavy", pool="heavy")
    tenant = TenantFactory(queue__num_slots=9)
    submit(tenant, 3, queue="heavy")
    submit(tenant, 1)
    told = trip(worker, free=[7], claims=True)
    assert sorted(job.pool for job in told.done) == ["default", "heavy", "heavy"]
    assert [job.queue for job in told.started] == ["default"]


def test_a_feeder_leaves_other_light_pools_alone_and_says_to_ring_them(register):
    worker, _ = register(kind="light"), register(pool="mail", kind="light")
    QueueFactory(name="mail", pool="mail")
    submit(TenantFactory(), 1, queue="mail")
    told = trip(worker, free=[7], claims=True)
    assert (list(told.done), told.done.rings) == ([], ("mail",))


@pytest.mark.parametrize("change", ["drained", "silent", "gone"])
def test_a_feeder_whose_worker_takes_no_more_jobs_claims_none_of_its_pool(register, change):
    worker, _ = register(kind="light"), register(kind="light")
    submit(TenantFactory(), 1)
    facts = {"drained": {"concurrency": 0}, "silent": {"beat_at": "2000-01-01T00:00Z"}}
    Worker.objects.filter(pk=worker).update(**facts.get(change, {"gone_at": timezone.now()}))
    told = trip(worker, free=[7], claims=True)
    assert (list(told.done), told.started, told.done.rings) == ([], [], ("default",))


def test_a_feeder_takes_its_share_of_the_free_seats_while_other_workers_have_some(register):
    first, second = register(concurrency=8, kind="light"), register(concurrency=4, kind="light")
    submit(TenantFactory(queue__num_slots=100), 20)
    busy = begin(second, [1] * 2)  # 8 and 2 seats are left
    assert len(busy) == 2
    told = trip(second, free=[1] * 2, claims=True)
    assert len(told.started) == 2
    assert len(begin(first, [1] * 8)) == 8


def test_a_feeder_takes_all_free_seats_if_they_are_its_own(register):
    first, second = register(concurrency=6, kind="light"), register(concurrency=6, kind="light")
    submit(TenantFactory(queue__num_slots=100), 20)
    assert len(begin(second, [1] * 6)) == 6
    assert len(begin(first, [1] * 6)) == 6


@pytest.mark.parametrize(("jobs", "rings"), [(9, ("default",)), (4, ())])
def test_a_feeder_that_has_taken_all_it_may_rings_the_others_if_jobs_wait(register, jobs, rings):
    worker, _ = register(concurrency=4, kind="light"), register(concurrency=4, kind="light")
    submit(TenantFactory(queue__num_slots=100), jobs)
    done = trip(worker, free=[7] * 4, claims=True).done
    assert (len(done), done.rings) == (4, rings)


def test_a_feeder_without_a_free_seat_rings_the_others(register):
    worker, _ = register(concurrency=1, kind="light"), register(concurrency=1, kind="light")
    submit(TenantFactory(queue__num_slots=9), 2)
    begin(worker, [7])
    told = trip(worker, claims=True)
    assert (list(told.done), told.done.rings) == ([], ("default",))


@pytest.mark.parametrize("why", ["no seat", "no job", "paused", "full queue", "tenant's slots"])
def test_no_feeder_is_rung_that_could_start_nothing(register, why):
    worker = register(concurrency=2, kind="light")
    submit(TenantFactory(queue__num_slots=1 if why == "tenant's slots" else 9), 3)
    begin(worker, [7, 7] if why == "no seat" else [7])
    match why:
        case "no job":
            store.cancel([job.pk for job in Job.objects.filter(status="created")], tenant_id=store.EVERY_TENANT)
            trip(worker, free=[7], claims=True)
        case "tenant's slots":
            trip(worker, free=[7], claims=True)  # until then the door does not know that no lane is left
        case "paused":
            Queue.objects.update(paused=True)
        case "full queue":
            Queue.objects.update(concurrency=1)
    done = store.claim()
    assert (list(done), done.rings) == ([], ())


def test_an_installation_without_light_pools_rings_none(register):
    register(concurrency=1)
    submit(TenantFactory(), 2)
    assert store.claim().rings == ()


def test_a_feeder_borrows_for_a_tenant_whose_slots_are_all_held(register):
    worker = register(concurrency=3, kind="light")
    submit(TenantFactory(queue__num_slots=1, queue__burst_slots=2), 3)
    told = trip(worker, free=[7] * 3, claims=True)
    assert (len(told.started), told.done.idle, told.done.resting) == (1, True, False)
    again = trip(worker, free=[7] * 2, claims=True)
    assert (again.done.idle, again.done.resting) == (True, True)
    assert len(trip(worker, free=[7] * 2, claims=True, borrow=True).started) == 1
    assert not store.recount_books()
