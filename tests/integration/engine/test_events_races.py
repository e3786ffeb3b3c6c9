"""Races of those who tell an event with those who wait for it, from both sides."""

import pytest
from django.db import transaction

from jobs import async_, events, store
from jobs.authoring.exceptions import EventWait
from jobs.calls.refusals import Locked
from jobs.engine.door.unblock import unblock
from jobs.engine.verbs.cancel import cancel
from jobs.lifecycle import Status
from jobs.models import Job, JobEnd, JobEvent
from jobs.store import EVERY_TENANT
from tests.factories import TenantFactory, make_job, status
from tests.sample.sequenced import book

pytestmark = pytest.mark.django_db(transaction=True)
NAME = "approved:42"
WAIT = EventWait(NAME, 60)


@pytest.fixture
def tenant():
    return TenantFactory(queue__num_slots=5)


@pytest.fixture
def job(tenant) -> Job:
    return make_job(tenant, Status.RUNNING)


def wait_for(job: Job) -> bool:
    return store.wait_for(job.pk, job.attempt, WAIT)


def test_an_event_that_is_committed_after_the_wait_began_opens_it(tenant, job, elsewhere):
    with transaction.atomic():
        assert events.tell(tenant, NAME)
        assert elsewhere(wait_for, job).result(), "it waits for nobody's commit"
        elsewhere(unblock).result()
        assert elsewhere(status, job.pk).result() == "blocked"
        assert not JobEnd.objects.filter(job_id=job.pk).exists(), "its news is read"
    unblock()
    assert status(job.pk) == "created"


def test_a_wait_that_is_committed_after_the_event_came_is_opened(tenant, job, elsewhere):
    with transaction.atomic():
        assert wait_for(job)
        assert elsewhere(events.tell, tenant, NAME).result(), "it waits for nobody's commit"
        elsewhere(unblock).result()
        assert not JobEnd.objects.filter(event=NAME).exists(), "its news is read"
    unblock()
    assert status(job.pk) == "created"


def test_an_event_that_is_rolled_back_opens_nothing_and_may_be_told_again(tenant, job):
    assert wait_for(job)
    with transaction.atomic():
        events.tell(tenant, NAME, 1)
        transaction.set_rollback(True)
    unblock()
    assert status(job.pk) == "blocked"
    assert events.tell(tenant, NAME, 2)
    unblock()
    assert Job.objects.get(pk=job.pk).event["payload"] == 2


def test_one_of_ten_who_tell_at_once_is_heard_and_each_job_opens_once(tenant, elsewhere):
    jobs = [make_job(tenant, Status.RUNNING) for _ in range(5)]
    waiting = [elsewhere(wait_for, job) for job in jobs]
    telling = [elsewhere(events.tell, tenant, NAME, number) for number in range(10)]
    for one in [*waiting, *[elsewhere(unblock) for _ in range(3)]]:
        one.result()
    assert sorted(one.result() for one in telling) == [False] * 9 + [True]
    unblock()
    first = JobEvent.objects.get().payload
    assert {(status(job.pk), Job.objects.get(pk=job.pk).event["payload"]) for job in jobs} == {("created", first)}
    assert not JobEnd.objects.exists()


def test_a_second_one_is_decided_by_the_end_of_the_first_and_a_request_waits_only_briefly(tenant, they):
    they.execute(
        "INSERT INTO job_events (tenant_id, name, payload, told_at, kept_until)"
        " VALUES (%s, %s, '1', now(), now() + interval '1 day')",
        [tenant.pk, NAME],
    )
    with pytest.raises(Locked), store.briefly():
        events.tell(tenant, NAME, 2)
    assert events.tell(tenant, "another", 2)
    they.end()
    assert events.tell(tenant, NAME, 2) is not they.commits


def test_a_cancel_that_is_under_way_wins_if_it_is_committed(tenant, job, they):
    assert wait_for(job)
    they.execute("UPDATE jobs SET status = 'cancelled', blocked_at = NULL, end_time = now() WHERE id = %s", [job.pk])
    events.tell(tenant, NAME)
    unblock()
    assert status(job.pk) == "blocked"
    they.end()
    unblock()
    assert status(job.pk) == ("cancelled" if they.commits else "created")
    assert not JobEnd.objects.exists()


def test_a_request_to_stop_before_the_wait_stops_the_job(tenant, job):
    cancel(job.pk, tenant_id=EVERY_TENANT)
    assert not wait_for(job)
    assert store.stop(job.pk, job.attempt)
    assert status(job.pk) == "cancelled"
    replaced = make_job(tenant, Status.RUNNING, replaced_by=job.pk)
    assert not wait_for(replaced)


def test_no_other_of_its_sequence_goes_while_it_waits_whoever_reads(tenant, elsewhere):
    first, second = (async_(book, tenant=tenant)(account="a", amount=n) for n in (1, 2))
    unblock()
    row = make_job(TenantFactory(), Status.RUNNING)
    holder = {name: getattr(row, name) for name in ("ticket", "worker", "worker_pid", "queued_at", "start_time")}
    Job.objects.filter(pk=first).update(status="running", slot=1, ready_at=None, attempt=1, **holder)
    with transaction.atomic():
        assert store.wait_for(first, 1, WAIT)
        elsewhere(unblock).result()
    for _ in range(3):
        elsewhere(unblock).result()
    assert [status(first), status(second)] == ["blocked", "blocked"]
    events.tell(tenant, NAME)
    unblock()
    assert [status(first), status(second)] == ["created", "blocked"]
