"""A call that joins an identical job that waits: the job is as urgent as the call, and due now if that is for now."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import transaction

from jobs import store
from jobs.engine.door.dispatch import dispatch
from jobs.engine.door.promote import promote
from jobs.engine.submitting.submit import submit_all
from jobs.engine.upkeep import recover
from jobs.lifecycle import Status
from jobs.models import UNKNOWN_JOB_TYPE, Job, PausedJobType
from jobs.store import Failure
from tests.factories import QueueFactory, ThingFactory

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]
HOUR = 3600.0


@pytest.fixture
def thing():
    QueueFactory()
    return ThingFactory(tenant__queue__num_slots=1)


@pytest.fixture
def worker(register):
    return register(concurrency=4)


def failed(thing, worker, value: int = 1, *, delay: float = HOUR) -> Job:
    """A job that is tried again in an hour."""
    job_id = thing.async_.echo(value)
    assert store.start(job_id, 1, store.Seat.here(worker))
    assert store.retry(job_id, 1, Failure("ValueError", "no"), delay=delay)
    return Job.objects.get(pk=job_id)


def test_a_job_that_waits_for_its_retry_is_tried_now_without_a_retry_counted(thing, worker, sent):
    job = failed(thing, worker)
    assert (job.status, job.retries) == ("scheduled", 1)
    assert thing.async_.echo(1) == job.pk
    promote()
    job.refresh_from_db()
    assert (job.status, job.attempt, job.retries, job.priority) == ("queued", 2, 0, 5)
    assert [(one.id, one.attempt) for one in sent] == [(job.pk, 1), (job.pk, 2)]


def snooze(job: Job) -> None:
    assert store.snooze(job.pk, job.attempt, {}, delay=HOUR)


def not_know(job: Job) -> None:
    assert store.snooze(job.pk, job.attempt, {}, delay=HOUR, why=Failure(UNKNOWN_JOB_TYPE, "no such type"))


def crash(job: Job) -> None:
    assert store.take_back(job.pk, job.attempt, Failure("ProcessDied", "signal 9"), max_crashes=3)


def stop_worker(job: Job) -> None:
    assert recover.take_back(job.pk, job.attempt, recover.STOPPED)


@pytest.mark.parametrize("pause", [snooze, not_know, crash, stop_worker])
def test_a_pause_that_is_no_retry_stays_and_no_retry_is_given_back(pause, thing, worker):
    """A body that was told by a partner to wait is not called before, however often somebody asks."""
    job = failed(thing, worker, delay=0)
    promote()
    assert store.start(job.pk, 2, store.Seat.here(worker))
    job.refresh_from_db()
    pause(job)
    due = Job.objects.values_list("due_at", flat=True).get(pk=job.pk)
    assert thing.async_(priority=1).echo(1) == job.pk
    job.refresh_from_db()
    assert (job.status, job.due_at, job.retries, job.priority) == ("scheduled", due, 1, 1)


def test_a_call_of_a_stranger_changes_no_job_of_the_owner(thing, worker):
    job = failed(thing, worker)
    request = replace(ThingFactory().async_(priority=0).echo.request(1), dedup_key=job.dedup_key)
    [theirs] = submit_all([request])
    assert theirs.id != job.pk
    again = Job.objects.get(pk=job.pk)
    assert (again.due_at, again.priority) == (job.due_at, job.priority)


def test_its_lane_and_its_books_know_it(thing, worker):
    failed(thing, worker)
    thing.async_.echo(1)
    promote()
    assert store.recount_waiting(all_tenants=True) == []
    assert store.wrong_books() == []


@pytest.mark.parametrize("options", [{"delay": 60}, {"dedup": False}, {"identical": "replace"}])
def test_another_wish_leaves_it_as_it_is(options, thing, worker):
    job = failed(thing, worker)
    if "identical" not in options:
        assert thing.async_(**options).echo(1) != job.pk
        again = Job.objects.get(pk=job.pk)
        assert (again.due_at, again.retries) == (job.due_at, 1)
    else:
        thing.async_(**options).echo(1)
        assert Job.objects.get(pk=job.pk).status == "cancelled"


def test_a_call_for_later_leaves_the_job_for_later(thing):
    job_id = thing.async_(delay=HOUR).echo(1)
    due = Job.objects.get(pk=job_id).due_at
    assert thing.async_(delay=HOUR, priority=1).echo(1) == job_id
    job = Job.objects.get(pk=job_id)
    assert (job.due_at, job.priority) == (due, 1)


def test_a_job_of_a_paused_type_stays_held(thing, worker):
    job = failed(thing, worker)
    PausedJobType.objects.create(source_type=job.source_type, source_method=job.source_method)
    assert thing.async_.echo(1) == job.pk
    assert Job.objects.get(pk=job.pk).due_at == job.due_at


def test_the_more_urgent_of_two_calls_decides_the_order_in_line(thing, worker, sent):
    """The lane is told of its new head: the claim begins there."""
    first, second, third = (thing.async_.echo(value) for value in (1, 2, 3))
    assert thing.async_(priority=2).echo(3) == third
    assert thing.async_(priority=9).echo(2) == second
    assert list(Job.objects.order_by("pk").values_list("priority", flat=True)) == [5, 5, 2]
    for running, following in ((first, third), (third, second)):
        assert store.start(running, 1, store.Seat.here(worker))
        assert store.succeed(running, 1, {}, None)
        dispatch()
        assert sent[-1].id == following
    assert store.recount_waiting(all_tenants=True) == []


def test_the_most_urgent_of_identical_calls_in_one_submit_counts(thing):
    calls = [thing.async_(priority=priority).echo.request(1) for priority in (5, 1, 3)]
    [job_id] = {one.id for one in submit_all(calls)}
    assert Job.objects.get(pk=job_id).priority == 1


@pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING])
def test_a_job_that_is_on_its_way_stays_as_it_is(status, thing, worker):
    job_id = thing.async_.echo(1)
    if status == Status.RUNNING:
        assert store.start(job_id, 1, store.Seat.here(worker))
    assert thing.async_(priority=0).echo(1) == job_id
    store.hasten([(job_id, thing.async_(priority=0).echo.request(1))])
    job = Job.objects.get(pk=job_id)
    assert (job.status, job.priority) == (status, 5)


def test_a_call_waits_for_nobody_who_has_the_job_locked(thing, worker, elsewhere):
    job = failed(thing, worker)
    with transaction.atomic():
        Job.objects.select_for_update().get(pk=job.pk)
        assert elsewhere(thing.async_(priority=0).echo, 1).result(30) == job.pk
    assert Job.objects.get(pk=job.pk).due_at - job.due_at == timedelta(0)


def test_two_urgent_calls_at_once_give_back_a_single_retry(thing, worker, elsewhere):
    job = failed(thing, worker)
    with transaction.atomic():
        assert thing.async_(priority=3).echo(1) == job.pk
        assert elsewhere(thing.async_(priority=3).echo, 1).result(30) == job.pk
    assert thing.async_(priority=3).echo(1) == job.pk
    job.refresh_from_db()
    assert (job.retries, job.priority) == (0, 3)
    [due] = store.promote()
    assert (due.id, Job.objects.get(pk=job.pk).status) == (job.pk, "created")


def test_a_call_at_the_moment_of_the_retry_leaves_one_attempt_whoever_is_first(thing, worker, elsewhere, sent):
    first = failed(thing, worker)
    with transaction.atomic():
        thing.async_.echo(1)
        assert elsewhere(store.promote).result(30) == []
    promote()
    assert [(one.id, one.attempt) for one in sent] == [(first.pk, 1), (first.pk, 2)]
    assert store.start(first.pk, 2, store.Seat.here(worker))
    assert store.succeed(first.pk, 2, {}, None)

    second = failed(thing, worker, 2, delay=0)
    with transaction.atomic():
        assert [one.id for one in store.promote()] == [second.pk]
        assert elsewhere(thing.async_.echo, 2).result(30) == second.pk
    dispatch()
    assert [(one.id, one.attempt) for one in sent[2:]] == [(second.pk, 1), (second.pk, 2)]
    assert Job.objects.get(pk=second.pk).retries == 1
