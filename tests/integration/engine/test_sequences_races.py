"""Races about jobs of a sequence, from both sides: somebody's transaction decides, is open, and then ends."""

import pytest
from django.db import transaction

from jobs import async_, store
from jobs.engine.door.dispatch import dispatch
from jobs.engine.door.unblock import unblock
from jobs.engine.verbs.cancel import cancel
from jobs.engine.verbs.revive import revive
from jobs.lifecycle import Status
from jobs.models import Job, JobEnd
from jobs.store import EVERY_TENANT
from tests.factories import TenantFactory, make_job, status, statuses
from tests.sample.sequenced import book

pytestmark = pytest.mark.django_db(transaction=True)
A = "acct-7"
ENDED = "UPDATE jobs SET status = 'cancelled', ready_at = NULL, blocked_at = NULL, end_time = now() WHERE id = %s"
GONE = "DELETE FROM jobs WHERE id = %s"


@pytest.fixture
def tenant():
    return TenantFactory(queue__num_slots=5)


def submit(tenant) -> int:
    return async_(book, tenant=tenant)(account=A)


def stop(tenant) -> int:
    """A failed job that stops the sequence."""
    return make_job(tenant, Status.DEAD, sequence=A, sequence_stops=True).pk


def test_a_submit_waits_for_no_other_transaction(tenant, elsewhere):
    with transaction.atomic():
        early = submit(tenant)
        late = elsewhere(submit, tenant).result()
        elsewhere(unblock).result()
        assert elsewhere(status, late).result() == "created", "it is committed first"
    unblock()
    assert [status(early), status(late)] == ["blocked", "created"]
    cancel(late, tenant_id=EVERY_TENANT)
    unblock()
    assert status(early) == "created"


def test_ten_submits_at_once_let_one_job_go(tenant, elsewhere):
    others = TenantFactory()
    submitting = [elsewhere(submit, owner) for _ in range(10) for owner in (tenant, others)]
    reading = [elsewhere(unblock) for _ in range(5)]
    for each in [*submitting, *reading]:
        each.result()
    unblock()
    for owner in (tenant, others):
        jobs = Job.objects.filter(tenant=owner).order_by("pk")
        assert sorted(jobs.values_list("status", flat=True)) == ["blocked"] * 9 + ["created"]
    assert not JobEnd.objects.exists()


@pytest.mark.parametrize("change", [ENDED, GONE], ids=["ends", "is deleted"])
def test_a_job_that_just_ends_lets_the_next_go_when_that_is_committed(tenant, they, change):
    first = submit(tenant)
    unblock()
    they.execute(change, [first])
    last = submit(tenant)
    unblock()
    assert status(last) == "blocked"
    they.end()
    unblock()
    assert status(last) == ("created" if they.commits else "blocked")
    assert not JobEnd.objects.exists()


def test_a_job_that_ends_before_the_next_is_committed_lets_it_go(tenant, elsewhere):
    first = submit(tenant)
    unblock()
    with transaction.atomic():
        last = submit(tenant)
        assert elsewhere(cancel, first, tenant_id=EVERY_TENANT).result() == "cancelled", "it waits for nobody's commit"
        elsewhere(unblock).result()
    unblock()
    assert status(last) == "created"


def test_a_job_stored_while_the_one_that_stops_it_is_deleted_goes(tenant, they):
    dead = stop(tenant)
    they.execute(GONE, [dead])
    last = submit(tenant)
    unblock()
    assert status(last) == "blocked"
    they.end()
    unblock()
    assert status(last) == ("created" if they.commits else "blocked")
    assert not JobEnd.objects.exists()


def test_a_job_stored_while_the_one_that_stops_it_is_revived_waits_for_it(tenant, elsewhere):
    dead = stop(tenant)
    with transaction.atomic():
        assert revive(dead, tenant_id=tenant.pk)
        last = elsewhere(submit, tenant).result()
        elsewhere(unblock).result()
        assert elsewhere(status, last).result() == "blocked"
    unblock()
    assert [status(dead), status(last)] == ["created", "blocked"]


def test_a_next_one_that_is_just_being_cancelled_is_looked_at_again(tenant, they):
    first, second, third = (submit(tenant) for _ in range(3))
    they.execute(ENDED, [second])
    cancel(first, tenant_id=EVERY_TENANT)
    unblock()
    assert [status(second), status(third)] == ["blocked", "blocked"]
    they.end()
    unblock()
    assert [status(second), status(third)] == (["cancelled", "created"] if they.commits else ["created", "blocked"])
    assert not JobEnd.objects.exists()


def test_the_dispatch_after_a_submit_claims_the_first_and_after_its_end_the_next(tenant, register, sent):
    register()
    first, last = submit(tenant), submit(tenant)
    dispatch()
    assert [claimed.id for claimed in sent] == [first]
    store.cancel([first], tenant_id=EVERY_TENANT)
    dispatch()
    assert [claimed.id for claimed in sent] == [first, last]
    assert statuses() == ["cancelled", "queued"]
