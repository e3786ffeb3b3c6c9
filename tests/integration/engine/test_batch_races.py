"""Races about the end of a batch: somebody adds to it, or revives a job of it, and commits or not."""

from uuid import uuid4

import pytest
from django.db import transaction

from jobs import batch, store
from jobs.engine.door.unblock import unblock
from jobs.engine.submitting.batches import Batch, call_back, close, open_batch
from jobs.engine.verbs.batch_actions import go_on_cancelling
from jobs.engine.verbs.cancel import cancel
from jobs.engine.verbs.revive import revive
from jobs.lifecycle import Status
from jobs.models import Job, JobEnd
from jobs.sql import statement
from jobs.store import EVERY_TENANT
from tests.factories import TenantFactory, ThingFactory, make_job, status
from tests.sql import sql
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
GROWS = "UPDATE batches SET added = added + 1 WHERE id = %s"
JOINS = "UPDATE jobs SET batch_id = %s WHERE id = %s"
PAUSED = "SELECT id, pg_advisory_xact_lock(4711) FROM asked OFFSET 0"
CANCELLED = "UPDATE jobs SET status = 'cancelled', ready_at = NULL, end_time = now() WHERE id = %s"
REVIVED = "UPDATE jobs SET status = 'created', ready_at = now(), end_time = NULL WHERE id = %s"


@pytest.fixture
def thing():
    return ThingFactory(tenant=TenantFactory(queue__num_slots=5))


@pytest.fixture
def nightly(thing) -> tuple[Batch, int, int]:
    """A batch of one job, that job, and the one after its end."""
    request = thing.async_(dedup=False).echo.request
    with batch("nightly", on_end=request("end")) as new:
        [member] = new.add(request())
    return Batch(new.id, thing.tenant.pk), member, Job.objects.get(predecessors=[new.id]).pk


def test_somebody_is_just_adding_when_the_last_one_ends(nightly, thing, they):
    new, member, ends = nightly
    more = make_job(thing.tenant).pk
    they.execute(GROWS, [new.id])
    they.execute(JOINS, [new.id, more])
    assert cancel(member, tenant_id=EVERY_TENANT) == "cancelled"
    unblock()
    assert status(ends) == "blocked", "nobody knows yet whether it was the last"
    they.end()
    unblock()
    assert status(ends) == ("blocked" if they.commits else "created")
    if they.commits:
        assert cancel(more, tenant_id=EVERY_TENANT) == "cancelled"
        unblock()
    assert status(ends) == "created"
    assert not JobEnd.objects.exists()


def test_the_last_one_just_ends_when_somebody_looks(nightly, they):
    _, member, ends = nightly
    they.execute(CANCELLED, [member])
    unblock()
    assert status(ends) == "blocked"
    they.end()
    unblock()
    assert status(ends) == ("created" if they.commits else "blocked")


def test_the_last_but_one_is_revived_while_the_last_one_ends(thing, they):
    request = thing.async_(dedup=False).echo.request
    with batch("nightly", on_end=request("end")) as new:
        first, last = new.add([request(), request()])
    ends = Job.objects.get(predecessors=[new.id]).pk
    assert cancel(first, tenant_id=EVERY_TENANT) == "cancelled"
    unblock()
    they.execute(REVIVED, [first])
    they.end()
    assert cancel(last, tenant_id=EVERY_TENANT) == "cancelled"
    unblock()
    assert status(ends) == ("blocked" if they.commits else "created")


def test_a_member_is_revived_and_the_batch_closed_while_the_reader_reads(
    thing, onlooker, elsewhere, blocked, monkeypatch
):
    """The reader has seen the end, and not the revival; and so it must not see the close either."""
    request = thing.async_(dedup=False).echo.request
    new = open_batch("nightly", "", thing.tenant.pk)
    [member] = new.add(request())
    [ends] = call_back(new, on_end=request("end"))
    unblock()
    onlooker.execute(CANCELLED, [member])
    slow = statement("read_ends").replace("FROM asked JOIN batches", f"FROM ({PAUSED}) asked JOIN batches")
    monkeypatch.setattr("jobs.store.awaiting.statement", lambda name: slow if name == "read_ends" else statement(name))
    onlooker.execute("SELECT pg_advisory_lock(4711)")
    reading = elsewhere(store.read_ends)
    try:
        wait_until(lambda: blocked() == 1, "the reader has its snapshot")
        assert revive(member, tenant_id=EVERY_TENANT)
        assert close(new)
    finally:  # or the thread, and so the end of a test that fails, would wait for ever
        onlooker.execute("SELECT pg_advisory_unlock(4711)")
    assert reading.result().mine
    assert status(ends) == "blocked"
    monkeypatch.undo()
    unblock()
    assert status(ends) == "blocked"
    assert cancel(member, tenant_id=EVERY_TENANT) == "cancelled"
    unblock()
    assert status(ends) == "created"


def test_the_end_waits_for_nobody_who_adds(nightly, thing, onlooker):
    """Members write nothing of their batch's row."""
    new, member, _ = nightly
    onlooker.execute("BEGIN")
    onlooker.execute(GROWS, [new.id])
    assert cancel(member, tenant_id=EVERY_TENANT) == "cancelled"
    unblock()
    onlooker.execute("ROLLBACK")


def test_the_first_of_a_close_and_an_addition_at_once_decides(thing, elsewhere, blocked):
    new = open_batch("nightly", "", thing.tenant.pk)
    with transaction.atomic():
        new.add(thing.async_(dedup=False).echo.request())
        closing = elsewhere(close, new)
        wait_until(lambda: blocked() == 1, "the close waits for the addition")
    assert closing.result()
    assert new.progress().total == 1
    assert Job.objects.get().status == Status.CREATED


def test_a_cancel_that_somebody_is_at_is_left_to_them(nightly, onlooker):
    new, member, _ = nightly
    assert store.begin_cancel(new.id, uuid4(), tenant_id=EVERY_TENANT)
    onlooker.execute("BEGIN")
    onlooker.execute("SELECT FROM batch_cancels FOR UPDATE")
    with transaction.atomic():
        sql("SET LOCAL lock_timeout = '100ms'")  # who waits for them hears it soon
        assert (go_on_cancelling(), status(member)) == (0, "created")
    onlooker.execute("ROLLBACK")
    assert (go_on_cancelling(), status(member)) == (1, "cancelled")
