"""Gathered calls at the same moment, and while their job is claimed, cancelled or rolled back: none is lost."""

import threading

import pytest
from django.db import connection, transaction

from jobs import async_, submit_many
from jobs.contrib.testing import drain
from jobs.engine.door.dispatch import dispatch
from jobs.models import Job
from tests.factories import TenantFactory
from tests.sample.gathered import embed, index
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
CALLERS = 10


@pytest.fixture
def tenant():
    return TenantFactory(queue__num_slots=1)


@pytest.fixture
def call(tenant):
    return async_(index, tenant=tenant)


def gathered() -> list[list[object]]:
    """The calls of each job that has not been cancelled."""
    return list(Job.objects.exclude(status="cancelled").order_by("id").values_list("args__calls", flat=True))


def test_each_of_many_calls_at_once_is_in_one_job(call, elsewhere):
    barrier = threading.Barrier(CALLERS)

    def submit(n: int) -> int:
        barrier.wait(30)
        return call(calls=[n])

    ids = [one.result(60) for one in [elsewhere(submit, n) for n in range(CALLERS)]]
    assert sorted(len(calls) for calls in gathered()) == [2, 4, 4]
    assert sorted(n for calls in gathered() for n in calls) == list(range(CALLERS))
    assert all(n in Job.objects.get(pk=job_id).args["calls"] for n, job_id in enumerate(ids))


@pytest.mark.parametrize(("first", "rolls_back"), [(True, True), (False, True), (False, False)])
def test_a_call_waits_for_an_open_one_and_is_in_the_job_that_is_left(first, rolls_back, call, elsewhere, blocked):
    if not first:
        call(calls=[0])
    with transaction.atomic():
        call(calls=["open"])
        other = elsewhere(call, calls=["other"])
        wait_until(lambda: blocked() == 1, "the other call waits for the open one")
        transaction.set_rollback(rolls_back)
    assert other.result(30) == Job.objects.get().pk
    assert gathered() == [([] if first else [0]) + ([] if rolls_back else ["open"]) + ["other"]]


def test_a_stranger_and_another_group_wait_for_no_open_call(call, tenant, elsewhere):
    others = [(TenantFactory(queue__num_slots=1), {}), *((tenant, {"model": name}) for name in ("large", "huge"))]
    with transaction.atomic():
        call(calls=[1])
        for owner, more in others:
            elsewhere(async_(index, tenant=owner), calls=[2], **more).result(30)


def test_a_job_with_an_open_call_is_claimed_after_it_with_all_calls(tenant, elsewhere, register, settings, sent):
    settings.JOBS_BEAT_INTERVAL = 3600.0
    call = async_(embed, tenant=tenant)
    waiting = call(calls=[1])
    register()
    with transaction.atomic():
        assert call(calls=[2]) == waiting
        elsewhere(dispatch).result(30)
        assert not sent
    assert [message.id for message in sent] == [waiting]
    assert gathered() == [[1, 2]]


def test_a_claim_that_commits_first_gets_a_job_without_the_call_which_is_a_new_one(tenant, race):
    call = async_(embed, tenant=tenant)
    old = call(calls=[1])
    race.begin(
        "UPDATE jobs SET status = 'queued', attempt = 1, slot = 1, ticket = 1, ready_at = NULL, waited_since = now(),"
        " queued_at = now(), handed_at = now() WHERE id = %s",
        old,
    )
    new = race.run(call, calls=[2]).result(30)
    assert (new == old) == (not race.lost)
    assert gathered() == ([[1], [2]] if race.lost else [[1, 2]])


def test_a_cancel_that_commits_first_takes_no_further_call_with_it(call, race):
    old = call(calls=[1])
    race.begin("UPDATE jobs SET status = 'cancelled', due_at = NULL, end_time = now() WHERE id = %s", old)
    new = race.run(call, calls=[2]).result(30)
    assert (new == old) == (not race.lost)
    assert gathered() == ([[2]] if race.lost else [[1, 2]])


def test_two_batches_of_the_same_groups_in_opposite_order_do_not_deadlock(tenant, elsewhere, blocked):
    call = async_(index, tenant=tenant)
    models = ("large", "small")
    forth = [call.request(calls=[model], model=model) for model in models]
    with transaction.atomic():
        call(calls=["first"], model="small")
        batches = [elsewhere(submit_many, forth), elsewhere(submit_many, forth[::-1])]
        wait_until(lambda: blocked() == 2, "both wait")
    there, back = (one.result(30) for one in batches)
    assert there == back[::-1]
    assert sorted(map(len, gathered())) == [2, 3]


def test_a_body_that_makes_its_own_call_again_gets_a_new_job(tenant, monkeypatch):
    made = []
    monkeypatch.setattr("tests.sample.gathered.note_run", lambda: made or made.append(async_(index)(calls=["again"])))
    first = async_(index, tenant=tenant)(calls=[1])
    ran = drain(later=True)
    assert [attempt.value for attempt in ran] == [[1], ["again"]]
    assert [attempt.job_id for attempt in ran] == [first, *made]


def test_a_further_call_takes_four_trips(call, django_assert_num_queries):
    call(calls=[1])
    with django_assert_num_queries(4):  # begin, the line, the append, commit
        call(calls=[2])
    assert not connection.in_atomic_block
