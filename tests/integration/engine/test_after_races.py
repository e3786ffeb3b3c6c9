"""Races about jobs that wait for others, from both sides: somebody's transaction decides, is open, and then ends."""

import re
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from jobs import store
from jobs.engine.door.dispatch import dispatch, on_commit
from jobs.engine.door.unblock import unblock
from jobs.engine.verbs.cancel import cancel
from jobs.engine.verbs.revive import revive
from jobs.lifecycle import Status
from jobs.models import Job, JobEnd
from jobs.sql import statement
from jobs.store import EVERY_TENANT, Failure
from tests.clock import call_at
from tests.factories import TenantFactory, ThingFactory, make_job, status
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
ENDED = "UPDATE jobs SET status = 'cancelled', ready_at = NULL, end_time = now() WHERE id = %s"
REVIVED = "UPDATE jobs SET status = 'created', ready_at = now(), end_time = NULL WHERE id = %s"
ERASED = "UPDATE jobs SET args = '{}' WHERE id = %s"
GONE = "DELETE FROM jobs WHERE id = %s"


@pytest.fixture
def thing():
    return ThingFactory(tenant=TenantFactory(queue__num_slots=5))


@pytest.fixture
def first(thing) -> int:
    return thing.async_(dedup=False).echo()


@pytest.mark.parametrize("change", [ENDED, GONE], ids=["ends", "is deleted"])
def test_a_job_that_just_ends_is_looked_at_again(thing, first, they, change):
    they.execute(change, [first])
    last = thing.async_(after_end=first).echo()
    unblock()
    assert status(last) == "blocked"
    assert JobEnd.objects.exists(), "the news stay"
    they.end()
    unblock()
    assert status(last) == ("created" if they.commits else "blocked")
    assert not JobEnd.objects.exists()
    assert cancel(first, tenant_id=EVERY_TENANT) == ("too late" if they.commits else "cancelled")
    unblock()
    assert status(last) == "created", "it was marked"


def test_a_job_that_ends_before_its_follower_is_committed_releases_it(thing, first, elsewhere):
    with transaction.atomic():
        last = thing.async_(after_end=first).echo()
        assert elsewhere(cancel, first, tenant_id=EVERY_TENANT).result() == "cancelled", "it waits for nobody's commit"
        elsewhere(unblock).result()
    unblock()
    assert status(last) == "created"


def test_a_follower_that_is_rolled_back_leaves_nothing(thing, first):
    with transaction.atomic():
        thing.async_(after=first).echo()
        transaction.set_rollback(True)
    assert not JobEnd.objects.exists()
    assert cancel(first, tenant_id=EVERY_TENANT) == "cancelled"
    assert not JobEnd.objects.exists()


def test_a_revival_that_is_under_way_counts_if_it_is_committed(thing, they):
    failed = make_job(thing.tenant, Status.ERROR).pk
    they.execute(REVIVED, [failed])
    last = thing.async_(after=failed).echo()
    unblock()
    assert status(last) == "blocked"
    they.end()
    unblock()
    assert status(last) == ("blocked" if they.commits else "cancelled")


def test_a_job_that_is_being_erased_has_ended(thing, they):
    done = make_job(thing.tenant, Status.SUCCESS).pk
    they.execute(ERASED, [done])
    last = thing.async_(after=done).echo()
    unblock()
    assert status(last) == "blocked"
    they.end()
    unblock()
    assert status(last) == "created"


def test_a_job_that_is_being_archived_has_ended(thing, elsewhere):
    done = make_job(thing.tenant, Status.SUCCESS, end_time=timezone.now()).pk
    with transaction.atomic():
        beginning = timezone.now() - timedelta(days=1)
        later = timezone.now() + timedelta(hours=1)
        assert call_at(later, store.archive, 0, beginning, later) == 1
        last = elsewhere(thing.async_(after=done).echo).result()
        assert status(last) == "blocked"
    unblock()
    assert status(last) == "created"


@pytest.mark.parametrize("how", ["success", "error"])
def test_a_follower_that_is_just_being_cancelled(thing, they, how):
    runs = make_job(thing.tenant, Status.RUNNING).pk
    last = thing.async_(after=runs).echo()
    they.execute("UPDATE jobs SET status = 'cancelled', blocked_at = NULL, end_time = now() WHERE id = %s", [last])
    assert store.succeed(runs, 1, {}, None) if how == "success" else store.fail(runs, 1, Failure("ValueError", "no"))
    unblock()
    assert status(last) == "blocked"
    they.end()
    unblock()
    assert status(last) == ("cancelled" if they.commits or how == "error" else "created")
    assert not JobEnd.objects.exists()


def test_a_follower_that_is_cancelled_while_the_reader_reads_stays_so(thing, onlooker, elsewhere, blocked, monkeypatch):
    first = thing.async_(dedup=False).echo()
    last = thing.async_(after_end=first).echo()
    Job.objects.filter(pk=first).update(status="cancelled", ready_at=None, end_time=timezone.now())
    paused = "FROM (SELECT *, pg_advisory_xact_lock(4713) FROM turning OFFSET 0) turning CROSS JOIN LATERAL"
    slow = re.sub(r"FROM turning\s+CROSS JOIN LATERAL", paused, statement("read_ends"))
    monkeypatch.setattr("jobs.store.awaiting.statement", lambda name: slow if name == "read_ends" else statement(name))
    onlooker.execute("SELECT pg_advisory_lock(4713)")
    reading = elsewhere(store.read_ends)
    try:
        wait_until(lambda: blocked() == 1, "the reader has its snapshot")
        assert store.cancel([last], tenant_id=EVERY_TENANT)
    finally:
        onlooker.execute("SELECT pg_advisory_unlock(4713)")
    assert not reading.result().moved
    assert status(last) == "cancelled"


def test_two_readers_take_turns_and_miss_no_end(thing, first, onlooker):
    last = thing.async_(after_end=first).echo()
    onlooker.execute("BEGIN")
    onlooker.execute("SELECT pg_advisory_xact_lock(hashtext('jobs.reader'), 0)")
    assert not unblock(), "it goes home at once"
    assert status(last) == "blocked"
    onlooker.execute("ROLLBACK")
    cancel(first, tenant_id=EVERY_TENANT)
    unblock()
    assert status(last) == "created"


def test_the_reader_looks_again_after_its_commit(thing, first, elsewhere, monkeypatch):
    """Somebody's news come after its last look, and that somebody has gone home."""
    last = thing.async_(after_end=first).echo()
    unblock()
    read_ends = store.read_ends

    def read_then_somebody_ends_it():
        turn = read_ends()
        if status(first) != "cancelled":
            elsewhere(store.cancel, [first], tenant_id=EVERY_TENANT).result()
        return turn

    monkeypatch.setattr(store, "read_ends", read_then_somebody_ends_it)
    unblock()
    assert status(last) == "created"


def test_the_dispatch_after_an_end_claims_what_waited_for_it(thing, register, sent):
    register()
    with transaction.atomic():
        first = thing.async_(dedup=False).echo()
        last = thing.async_(after=first).echo()
    assert [message.id for message in sent] == [first]
    row = store.start(first, 1, store.Seat.here(Job.objects.get(pk=first).worker or register()))
    assert store.succeed(first, 1, {}, None, by=row.holder)
    dispatch()
    assert [message.id for message in sent] == [first, last]


def test_a_job_that_a_dispatch_unblocks_starts_beside_a_locked_one_of_its_lane(thing, first, register, onlooker, sent):
    """Its first pass has left that lane to whoever has it locked; now there is more in it."""
    last = thing.async_(after_end=first).echo()
    locked = thing.async_(dedup=False).echo()
    Job.objects.filter(pk=first).update(status="cancelled", ready_at=None, end_time=timezone.now())
    onlooker.execute("BEGIN")
    onlooker.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [locked])
    register(concurrency=2)
    dispatch()
    assert [message.id for message in sent] == [last]
    onlooker.execute("ROLLBACK")


def test_news_are_worth_a_pass_while_every_process_is_busy(thing, first):
    """No worker: there is no room, but a follower may have to be cancelled."""
    dispatch()
    last = thing.async_(after=first).echo()
    dispatch()
    assert not store.worth_a_pass()
    with transaction.atomic():
        Job.objects.filter(pk=first).update(status="cancelled", ready_at=None, end_time=timezone.now())
        on_commit()
    assert status(last) == "cancelled"


def test_a_job_that_nobody_waits_for_leaves_no_news(first):
    assert cancel(first, tenant_id=EVERY_TENANT) == "cancelled"
    assert revive(first, tenant_id=EVERY_TENANT)
    Job.objects.filter(pk=first).delete()
    assert not JobEnd.objects.exists()
