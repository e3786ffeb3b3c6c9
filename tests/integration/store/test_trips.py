"""A trip settles what many seats have ended, and starts what it is called for: the guards of the single verbs hold."""

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import DataError, OperationalError, transaction
from django.db.transaction import TransactionManagementError
from django.utils import timezone

from jobs import store
from jobs.models import Attempt, FreedSlot, Job, PausedJobType, Worker
from jobs.store import MOST, Success, Trip
from tests.factories import TenantFactory, statuses
from tests.light import begin, ends, submit, trip
from tests.sql import sql
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]


@pytest.fixture
def worker(register):
    return register(concurrency=4, kind="light")


@pytest.fixture
def running(worker):
    """Two jobs of an owner, and one of a stranger, in two processes of the worker."""
    owner, stranger = TenantFactory(queue__num_slots=2), TenantFactory(queue__num_slots=2)
    submit(owner, 2)
    submit(stranger, 1)
    jobs = begin(worker)
    assert sorted(job.tenant_id for job in jobs) == [owner.pk, owner.pk, stranger.pk]
    return jobs


def names(jobs) -> set[tuple[int, int]]:
    return {(job.id, job.attempt) for job in jobs}


def test_each_end_is_in_the_row_in_the_history_of_attempts_and_in_the_books(worker, running):
    first, *others = running
    Job.objects.filter(pk=first.id).update(progress=0.5, last_error="of an earlier attempt", peak_memory=7)
    told = trip(worker, ended=[Success(first, {"rows": 3}, 60, 17), *ends(others)])
    assert told.settled == names(running)
    assert (told.followed, told.started, told.done) == ({}, [], None)
    job = Job.objects.get(pk=first.id)
    assert (job.status, job.stats, job.result_bytes, job.slot) == ("success", {"rows": 3}, 17, None)
    assert (job.progress, job.last_error, job.peak_memory) == (1, "", None)
    assert set(Job.objects.exclude(pk=first.id).values_list("progress", flat=True)) == {None}
    assert job.result_expires_at - job.end_time == timedelta(seconds=60)
    assert Job.objects.filter(status="success", result_expires_at=None).count() == 2
    assert set(Attempt.objects.values_list("job_id", "worker", "worker_pid", "outcome")) == {
        (job.id, worker, job.holder.pid, "success") for job in running
    }
    assert FreedSlot.objects.filter(seconds__gte=0).count() == 3
    assert not store.recount_books()


@pytest.mark.parametrize("stale", ["pid", "worker", "attempt", "taken back"])
def test_an_end_that_is_no_longer_its_holders_changes_nothing_beside_others_that_are_settled(worker, running, stale):
    first, *others = running
    by = worker
    match stale:
        case "pid":
            first = replace(first, holder=replace(first.holder, pid=99))
        case "worker":
            others, by = [], uuid4()
        case "attempt":
            first = replace(first, attempt=2)
        case "taken back":
            store.take_back(first.id, 1, store.Failure("Crashed", "killed"), 5)
    before = Job.objects.values().get(pk=first.id)
    assert trip(by, ended=ends([first, *others])).settled == names(others)
    assert Job.objects.values().get(pk=first.id) == before
    assert Attempt.objects.filter(outcome="success").count() == len(others)
    assert not store.recount_books()


def test_an_end_is_settled_once(worker, running):
    trip(worker, ended=ends(running))
    assert trip(worker, ended=ends(running)).settled == frozenset()
    assert Attempt.objects.count() == 3


def test_a_batch_with_an_end_that_postgresql_refuses_settles_nothing(worker, running):
    first, *others = running
    refused = Trip(worker, "default", ended=[*ends(others), Success(first, {"text": "\0"})], claims=True)
    with pytest.raises(DataError):
        refused.make()
    assert refused.settled is None
    assert statuses() == ["running"] * 3
    assert trip(worker, ended=ends(others)).settled == names(others)


def test_the_settled_ends_are_known_even_if_the_session_is_lost_at_the_door(
    worker, running, onlooker, elsewhere, blocked
):
    submit(TenantFactory(), 2)
    lost = Trip(worker, "default", ended=ends(running[:1]), free=[7], claims=True)
    onlooker.execute("SELECT pg_advisory_lock(hashtext('jobs.door'), 0)")
    making = elsewhere(lost.make)
    wait_until(lambda: blocked() == 1, "it waits at the door")
    onlooker.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
    with pytest.raises(OperationalError):
        making.result()
    onlooker.execute("SELECT pg_advisory_unlock(hashtext('jobs.door'), 0)")
    assert (lost.settled, lost.started) == (names(running[:1]), [])
    assert statuses().count("running") == 2


def test_the_ends_of_a_trip_are_at_most_so_many(worker, running):
    with pytest.raises(ValueError, match="at most 100 ends"):
        Trip(worker, "default", ended=ends(running[:1] * (MOST + 1)))


def test_a_trip_has_transactions_of_its_own(worker, running):
    with transaction.atomic(), pytest.raises(TransactionManagementError):
        trip(worker, ended=ends(running))


class TestCalled:
    """Attempts of messages."""

    @pytest.fixture
    def queued(self, register):
        """The jobs of an owner and of a stranger, claimed while their pool was not light yet."""
        register(concurrency=2)
        submit(TenantFactory(), 1)
        submit(TenantFactory(), 1)
        claimed = store.claim()
        Worker.objects.update(gone_at=timezone.now())
        return [(job.id, job.attempt) for job in claimed]

    def test_each_starts_in_the_process_of_its_own_seat(self, queued, worker):
        told = trip(worker, called=queued, free=[7, 8, 9])
        assert {(job.id, job.holder.pid) for job in told.started} == {(queued[0][0], 7), (queued[1][0], 8)}
        assert set(Job.objects.values_list("status", "worker", "worker_pid")) == {
            ("running", worker, 7),
            ("running", worker, 8),
        }

    def test_the_claimed_jobs_start_in_the_seats_behind_theirs(self, queued, worker):
        later = submit(TenantFactory(), 2)
        told = trip(worker, called=queued, free=[7, 7, 8], claims=True)
        assert [(job.id, job.holder.pid) for job in told.started if job.holder.pid == 8] == [(later[0], 8)]
        assert len(told.started) == 3

    @pytest.mark.parametrize("why", ["attempt", "paused", "expired", "gone", "locked", "running"])
    def test_an_attempt_that_may_not_start_does_not_beside_the_others(self, queued, worker, onlooker, why):
        (number, _), other = queued
        called = list(queued)
        job = Job.objects.filter(pk=number)
        with onlooker.transaction():
            match why:
                case "attempt":
                    called[0] = (number, 2)
                case "paused":
                    job.update(source_type="tests.paused")
                    PausedJobType.objects.create(source_type="tests.paused", source_method="run")
                case "expired":
                    job.update(expires_at=timezone.now())
                case "gone":
                    Worker.objects.filter(pk=worker).update(gone_at=timezone.now())
                case "locked":
                    onlooker.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [number])
                case "running":
                    trip(worker, called=called[:1], free=[9])
            told = trip(worker, called=called, free=[7, 8])
        assert [(job.id, job.holder.pid) for job in told.started] == ([] if why == "gone" else [(other[0], 8)])

    def test_each_needs_a_free_seat(self, queued, worker):
        with pytest.raises(ValueError, match="a free seat for each"):
            Trip(worker, "default", called=queued, free=[7])

    def test_a_trip_without_a_pass_starts_nothing_that_the_pass_before_it_has_kept(self, queued, worker):
        """That one could not start; by now somebody may have released its type."""
        [kept] = submit(TenantFactory(), 1, source_type="tests.paused")
        PausedJobType.objects.create(source_type="tests.paused", source_method="run")
        assert [job.id for job in trip(worker, free=[7], claims=True).done] == [kept]
        PausedJobType.objects.all().delete()
        assert {job.id for job in trip(worker, called=queued, free=[7, 8, 9]).started} == {queued[0][0], queued[1][0]}


def test_the_attempts_that_processes_run_since_a_moment_are_told_after_a_lost_answer(worker, running, register):
    stranger = register(concurrency=1, kind="light")
    [(early,)] = sql("SELECT min(start_time) - interval '1 s' FROM jobs")
    [(late,)] = sql("SELECT max(start_time) FROM jobs")
    held = store.running_in_all(worker, [7, 8], early)
    assert {(job.id, job.holder) for job in held} == {(job.id, job.holder) for job in running}
    assert {job.holder.pid for job in store.running_in_all(worker, [7], early)} == {7}
    assert store.running_in_all(worker, [7, 8], late) == store.running_in_all(stranger, [7, 8], early) == []
