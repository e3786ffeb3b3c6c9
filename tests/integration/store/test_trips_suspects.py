"""A job that was in three deaths of unknown cause starts beside no others: a trip must be called for it."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from jobs import store
from jobs.models import SHARED_DEATH, FailedAttempt, Job
from tests.clock import call_at
from tests.factories import TenantFactory
from tests.light import begin, ends, submit, trip

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]

NOW = datetime(2030, 1, 31, tzinfo=UTC)


@pytest.fixture
def worker(register):
    return register(concurrency=4, kind="light")


@pytest.fixture
def owner():
    return TenantFactory(queue__num_slots=1)


@pytest.fixture
def stranger():
    return TenantFactory(queue__num_slots=1)


def fail(job_id: int, *classes: str) -> None:
    """Let the attempts of a waiting job have ended so."""
    FailedAttempt.objects.bulk_create(
        FailedAttempt(job_id=job_id, attempt=number, error_class=name, error="", end_time=timezone.now())
        for number, name in enumerate(classes, 1)
    )
    Job.objects.filter(pk=job_id).update(attempt=len(classes))


def suspect(tenant) -> int:
    (job_id,) = submit(tenant, 1)
    fail(job_id, *[SHARED_DEATH] * 3)
    return job_id


def test_a_suspect_that_a_pass_claims_does_not_start_and_a_strangers_job_does(worker, owner, stranger):
    waits, (other,) = suspect(owner), submit(stranger, 1)
    told = trip(worker, free=[7, 7], claims=True)
    assert {job.id for job in told.done} == {waits, other}
    assert [job.id for job in told.started] == [other]
    assert Job.objects.get(pk=waits).status == "queued"


def test_a_suspect_starts_in_the_process_of_the_trip_that_is_called_for_it_and_no_other_does(worker, owner, stranger):
    waits, beside = suspect(owner), suspect(stranger)
    trip(worker, free=[7, 7], claims=True)
    called = [(waits, 4), (beside, 4)]
    assert [(job.id, job.holder.pid) for job in trip(worker, called=called, free=[9, 7], suspects=1).started] == [
        (waits, 9)
    ]
    assert Job.objects.get(pk=beside).status == "queued"


@pytest.mark.parametrize(
    "classes", [[SHARED_DEATH] * 2, ["NeighbourEnded"] * 3, ["ProcessDied"] * 3, [SHARED_DEATH, "ValueError"] * 2]
)
def test_a_job_that_failed_otherwise_or_less_often_is_no_suspect(worker, owner, stranger, classes):
    suspect(stranger)  # its failures are no concern of others
    (job_id,) = submit(owner, 1)
    fail(job_id, *classes)
    assert [job.id for job in begin(worker)] == [job_id]


def test_a_suspect_follows_nobody(worker, owner, stranger):
    """The next job of the lane follows neither: it would overtake. Both wait for a pass."""
    first, second = submit(owner, 2)
    other, next_one = submit(stranger, 2)
    fail(second, *[SHARED_DEATH] * 3)
    told = trip(worker, ended=ends(begin(worker), goes_on=True))
    assert told.settled == {(first, 1), (other, 1)}
    assert [job.id for job in told.followed.values()] == [next_one]


def test_a_suspect_in_hand_is_one_that_waits_to_start_and_counts_as_no_lost_message(worker, owner, stranger):
    waits, other = suspect(owner), suspect(stranger)
    trip(worker, free=[7, 7], claims=True)
    Job.objects.update(handed_at="2020-01-01T00:00Z")
    assert store.is_suspect(waits, 4)
    store.note_in_hand([(waits, 4), (other, 3)])
    assert [job.id for job in store.hand_over_again(10)] == [other]


@pytest.mark.parametrize("why", ["attempt", "running", "no suspect"])
def test_an_attempt_of_others_or_that_runs_is_no_suspect_that_waits(worker, owner, why):
    (job_id,) = submit(owner, 1) if why == "no suspect" else [suspect(owner)]
    trip(worker, free=[7], claims=True)
    if why == "running":
        trip(worker, called=[(job_id, 4)], free=[7], suspects=1)
    attempt = {"attempt": 3, "no suspect": 1}.get(why, 4)
    assert not store.is_suspect(job_id, attempt)


@pytest.mark.parametrize(("attempt", "seconds"), [(4, 2), (6, 8), (9, 60), (999, 60)])
def test_a_suspect_is_put_off_for_longer_each_time_and_others_are_not(worker, owner, stranger, attempt, seconds):
    waits, (other,) = suspect(owner), submit(stranger, 1)
    trip(worker, free=[7, 7], claims=True)
    trip(worker, called=[(other, 1)], free=[7])
    Job.objects.filter(pk=waits).update(attempt=attempt)
    Job.objects.filter(pk=other).update(status="queued")
    assert not store.put_off(other, 1, suspect=True)
    assert call_at(NOW, store.put_off, waits, attempt, suspect=True)
    job = Job.objects.get(pk=waits)
    assert (job.status, job.slot, job.due_at) == ("scheduled", None, NOW + timedelta(seconds=seconds))
    assert not store.put_off(waits, attempt, suspect=True)


def test_an_attempt_that_runs_is_not_noted_in_hand(worker, owner):
    (job,) = begin_suspect(worker, suspect(owner))
    Job.objects.update(handed_at=None)
    store.note_in_hand([(job.id, job.attempt)])
    assert Job.objects.get().handed_at is None


def begin_suspect(worker, job_id: int) -> list[store.Started]:
    trip(worker, free=[7], claims=True)
    return trip(worker, called=[(job_id, 4)], free=[9], suspects=1).started
