"""One job for identical submits, however concurrent (I5): each race from both sides, held open where it is decided."""

import threading
import uuid
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from jobs import cancel, store
from jobs.calls.refusals import InvalidRequest, Undecided
from jobs.engine.submitting.submit import MOST_TRIES, submit, submit_all
from jobs.models import Job, Queue
from jobs.store import EVERY_TENANT, Answer
from tests.conftest import request_for
from tests.factories import QueueFactory, make_job
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

KEYS = [uuid.UUID(int=n) for n in range(3)]
PRESSES = 10


def keyed(tenant, key: uuid.UUID):
    return request_for(tenant, source_id=key.int, dedup_key=key)


def submit_after(barrier: threading.Barrier, request):
    barrier.wait(30)
    return submit(request)


def test_ten_identical_submits_at_once_store_one_job(tenant, elsewhere):
    barrier = threading.Barrier(PRESSES)
    presses = [elsewhere(submit_after, barrier, keyed(tenant, KEYS[0])) for _ in range(PRESSES)]
    submitted = [press.result() for press in presses]
    assert len({s.id for s in submitted}) == Job.objects.count() == 1
    assert [s.deduplicated for s in submitted].count(False) == 1


def test_when_the_first_commits_those_who_waited_for_it_get_its_job(tenant, elsewhere, blocked):
    with transaction.atomic():
        winner = submit(keyed(tenant, KEYS[0])).id
        presses = [elsewhere(submit, keyed(tenant, KEYS[0])) for _ in range(PRESSES)]
        wait_until(lambda: blocked() == PRESSES, "the others wait for the first")
        assert not any(press.done() for press in presses)
    submitted = [press.result() for press in presses]
    assert {(s.id, s.deduplicated) for s in submitted} == {(winner, True)}
    assert Job.objects.count() == 1


def test_when_the_first_rolls_back_one_of_those_who_waited_is_stored(tenant, elsewhere, blocked):
    with transaction.atomic():
        lost = submit(keyed(tenant, KEYS[0])).id
        presses = [elsewhere(submit, keyed(tenant, KEYS[0])) for _ in range(PRESSES)]
        wait_until(lambda: blocked() == PRESSES, "the others wait for the first")
        transaction.set_rollback(True)
    submitted = [press.result() for press in presses]
    assert {s.id for s in submitted} == {Job.objects.get().pk}
    assert lost not in {s.id for s in submitted}
    assert [s.deduplicated for s in submitted].count(False) == 1


def test_a_job_that_ends_while_its_identical_is_being_submitted_is_not_returned(tenant, elsewhere, blocked):
    """Neither stored, since it was there, nor found, since it has ended: so it is tried again."""
    with transaction.atomic():
        job = submit(keyed(tenant, KEYS[0])).id
        press = elsewhere(submit, keyed(tenant, KEYS[0]))
        wait_until(lambda: blocked() == 1, "the submit waits for the first")
        assert cancel(job, tenant_id=EVERY_TENANT)
    submitted = press.result()
    assert submitted.id != job
    assert not submitted.deduplicated


def test_where_identical_jobs_come_and_go_for_ever_the_submit_gives_up_and_says_so(tenant, monkeypatch):
    looks = []
    monkeypatch.setattr(
        store,
        "insert",
        lambda asked, caller, behind: looks.append(asked) or [Answer(0, *[None] * (len(Answer._fields) - 1))],
    )
    with pytest.raises(Undecided, match="Submit this job again"):
        submit(keyed(tenant, KEYS[0]))
    assert len(looks) == MOST_TRIES


@pytest.mark.parametrize("key", [None, KEYS[0]], ids=["without a key", "with one"])
def test_a_queue_that_is_renamed_meanwhile_is_unknown(tenant, elsewhere, key):
    """It was known when the request was made; what decides is the statement that stores it."""
    QueueFactory(name="old")
    request = request_for(tenant, queue="old", dedup_key=key)
    elsewhere(Queue.objects.filter(name="old").update, name="new").result()
    with pytest.raises(InvalidRequest, match="'old' is unknown; known: default, new"):
        submit(request)
    assert not Job.objects.exists()


@pytest.mark.parametrize("decide", ["commit", "rollback"])
def test_two_batches_with_the_same_keys_in_opposite_order_do_not_deadlock(decide, tenant, elsewhere, blocked):
    forth = [keyed(tenant, key) for key in KEYS]
    with transaction.atomic():
        # Held by us: a batch that has stored an outer key now waits with it.
        submit(keyed(tenant, KEYS[1]))
        batches = [elsewhere(submit_all, forth), elsewhere(submit_all, forth[::-1])]
        wait_until(lambda: blocked() == 2, "both batches wait")
        transaction.set_rollback(decide == "rollback")
    there, back = (batch.result() for batch in batches)
    assert [s.id for s in there] == [s.id for s in back][::-1]
    assert Job.objects.count() == 3


def test_two_batches_that_take_keys_from_old_jobs_in_opposite_order_do_not_deadlock(tenant, elsewhere, blocked):
    old = [make_job(tenant, dedup_key=key, created_at=timezone.now() - timedelta(days=1)) for key in KEYS]
    forth = [keyed(tenant, key) for key in KEYS]
    with transaction.atomic():
        list(Job.objects.select_for_update().filter(pk=old[1].pk))
        batches = [elsewhere(submit_all, forth), elsewhere(submit_all, forth[::-1])]
        wait_until(lambda: blocked() == 2, "both batches wait")
    there, back = (batch.result() for batch in batches)
    assert [s.id for s in there] == [s.id for s in back][::-1]
    assert {s.id for s in there}.isdisjoint({job.pk for job in old})


def test_an_onlooker_sees_no_job_before_the_commit(tenant, elsewhere):
    with transaction.atomic():
        submit(request_for(tenant))
        assert elsewhere(Job.objects.count).result() == 0
    assert elsewhere(Job.objects.count).result() == 1
    assert not connection.in_atomic_block
