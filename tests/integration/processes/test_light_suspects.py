"""The feeder keeps a process for jobs that were in several deaths of unknown cause: one of them at a time."""

from datetime import timedelta

import pytest
from django.db import OperationalError, transaction
from django.utils import timezone

from jobs import store
from jobs.lifecycle import Status
from jobs.models import SHARED_DEATH, FailedAttempt, Job
from jobs.store import Started, Trip
from jobs.worker.light import suspects as hand
from tests.factories import NO_PID, QueueFactory, TenantFactory
from tests.integration.processes.test_light_feeder import SEATS, Fed, LightProcess, status, submit
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def fed(register, monkeypatch):
    """Two suspects may wait in its hand."""
    monkeypatch.setattr(hand, "PART_OF_SEATS", SEATS // 2)
    QueueFactory(name="default")
    fed = Fed(register(concurrency=20, kind="light"))
    yield fed
    fed.close()


@pytest.fixture
def suspects(fed):
    """Jobs of an owner and of a stranger, which wait for a slot."""
    return [submit_suspect(TenantFactory(queue__num_slots=2)) for _ in range(2)]


def submit_suspect(tenant) -> int:
    with transaction.atomic():
        (job_id,) = submit(tenant, 1)
        FailedAttempt.objects.bulk_create(
            FailedAttempt(job_id=job_id, attempt=number, error_class=SHARED_DEATH, error="", end_time=timezone.now())
            for number in (1, 2, 3)
        )
        Job.objects.filter(pk=job_id).update(attempt=3)
    return job_id


def alone(*processes: LightProcess) -> tuple[LightProcess, Started]:
    """The process that was kept, and the suspect in it."""
    wait_until(lambda: [one._hear() for one in processes] and any(one.runs for one in processes), "one runs")
    (kept,) = [one for one in processes if one.runs]
    (job,) = kept.runs
    return kept, job


def test_each_suspect_runs_alone_in_a_further_process_and_all_other_seats_stay_open(suspects, fed):
    process = LightProcess(fed, NO_PID)
    wait_until(lambda: fed.grown, "it asks for a process")
    submit(TenantFactory(queue__num_slots=SEATS + 2), SEATS + 2)
    process.got(SEATS)
    apart = LightProcess(fed, NO_PID + 1)
    (first,) = apart.got(1)
    assert {status(one) for one in suspects} == {Status.RUNNING, Status.QUEUED}
    apart.end(first)
    _, second = apart.got(2)
    assert {(job.id, job.attempt) for job in (first, second)} == {(one, 4) for one in suspects}
    apart.end(second)
    wait_until(lambda: {status(one) for one in suspects} == {Status.SUCCESS}, "both have ended")
    process.end(*process.runs)
    assert len(process.got(SEATS + 2)) == SEATS + 2
    apart._hear()
    assert (len(apart.runs), fed.grown) == (2, 1)


def test_the_next_suspect_runs_in_the_process_that_takes_the_place_of_one_that_died(suspects, fed):
    processes = [LightProcess(fed, NO_PID + n) for n in range(2)]
    kept, culprit = alone(*processes)
    kept.wire.close()
    wait_until(lambda: fed.died, "its end is reported")
    assert fed.aboard == {kept.pid: [(culprit.id, culprit.attempt)]}
    _, next_one = alone(*({*processes} - {kept}), LightProcess(fed, NO_PID + 2))
    assert {culprit.id, next_one.id} == {*suspects}


def test_a_suspect_whose_start_had_no_answer_begins_once(fed, monkeypatch):
    make, lost = Trip.make, []

    def lose(trip: Trip) -> None:
        make(trip)
        if trip._suspects and not lost:
            lost.append(trip)
            raise OperationalError("the answer was lost")

    monkeypatch.setattr(Trip, "make", lose)
    job_id = submit_suspect(TenantFactory())
    kept, job = alone(*(LightProcess(fed, NO_PID + n) for n in range(2)))
    kept.end(job)
    wait_until(lambda: status(job_id) == Status.SUCCESS, "it has ended")
    assert lost
    assert Job.objects.get().attempt == 4


def test_a_suspect_that_waits_long_for_its_process_is_no_lost_message(fed):
    job_id = submit_suspect(TenantFactory())
    LightProcess(fed, NO_PID)
    wait_until(lambda: fed.grown, "it is in hand")
    Job.objects.filter(pk=job_id).update(handed_at=timezone.now() - timedelta(hours=1))
    wait_until(lambda: Job.objects.get().handed_at > timezone.now() - timedelta(minutes=1), "it is noted")
    assert status(job_id) == Status.QUEUED


def test_a_draining_worker_starts_no_suspect(fed):
    process = LightProcess(fed, NO_PID)
    submit(TenantFactory(), 1)
    (job,) = process.got(1)
    job_id = submit_suspect(TenantFactory())
    wait_until(lambda: fed.grown, "it is in hand")
    fed.drains = True
    apart = LightProcess(fed, NO_PID + 1)
    wait_until(lambda: fed.feeder.processes.by_pid[apart.pid].is_apart, "there is a process for it")
    process.end(job)
    assert fed.feeder.idle.wait(20)
    apart._hear()
    assert (apart.runs, status(job.id), status(job_id)) == ([], Status.SUCCESS, Status.QUEUED)


def test_more_suspects_than_may_wait_are_put_off_and_take_no_slots_from_others(fed):
    tenant = TenantFactory(queue__num_slots=3)
    three = [submit_suspect(tenant) for _ in range(3)]
    process = LightProcess(fed, NO_PID)
    wait_until(lambda: sorted(map(status, three)) == ["queued", "queued", "scheduled"], "one does not wait")
    (other,) = submit(tenant, 1)
    assert [job.id for job in process.got(1)] == [other]
    assert not store.recount_books()
