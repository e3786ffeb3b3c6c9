"""Cancellations of running jobs, paused types, dead letters: what each guard of theirs keeps from happening."""

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import store
from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL, FailedAttempt, Job, PausedJobType
from jobs.store import RunningHere, Seat
from tests.clock import call_at
from tests.factories import NO_PID, TenantFactory, make_job
from tests.verbs import KILLED, LATER, VERBS, moved, pause, row


@pytest.mark.django_db
class TestACancellationThatWasRequested:
    @pytest.fixture
    def asked(self) -> Job:
        return make_job(TenantFactory(), Status.RUNNING, attempt=3, cancel_requested_at=timezone.now())

    @pytest.mark.parametrize("verb", ["retry", "snooze", "hand_back"])
    def test_is_not_answered_by_running_again(self, verb, asked):
        before = row(asked)
        assert not VERBS[verb](asked, 3)
        assert row(asked) == before

    def test_is_not_needed_to_succeed_or_fail(self, asked):
        assert VERBS["succeed"](asked, 3)

    def test_is_carried_out_by_a_crash(self, asked):
        assert store.take_back(asked.pk, 3, KILLED, 3) == "cancelled"

    def test_is_what_a_stop_needs(self):
        running = make_job(TenantFactory(), Status.RUNNING, attempt=3)
        before = row(running)
        assert not VERBS["stop"](running, 3)
        assert row(running) == before

    @pytest.mark.parametrize("attempt", [2, 4], ids=["stale", "future"])
    def test_the_failure_of_another_attempt_is_not_kept(self, attempt, asked):
        before = row(asked)
        assert not store.stop(asked.pk, attempt, failure=KILLED)
        assert row(asked) == before
        assert not FailedAttempt.objects.exists()

    @pytest.mark.parametrize("status", Status)
    def test_only_a_running_job_is_asked_to_stop(self, status):
        job = make_job(TenantFactory(), status)
        before = row(job)
        applied = store.request_cancel([job.pk], tenant_id=store.EVERY_TENANT)
        assert bool(applied) == (status == Status.RUNNING) == (row(job) != before)

    def test_asked_again_it_is_as_old_as_the_first_time(self, asked):
        call_at(LATER, store.request_cancel, [asked.pk], tenant_id=store.EVERY_TENANT)
        first = asked.cancel_requested_at
        asked.refresh_from_db()
        assert asked.cancel_requested_at == first

    def test_is_overdue_after_its_grace(self, asked):
        first = asked.cancel_requested_at
        here = RunningHere(asked.pk, 3, asked.tenant_id, asked.worker_pid)
        assert call_at(first + timedelta(seconds=10), store.running_here, asked.worker, 10) == [(here, False, False)]
        late = call_at(first + timedelta(seconds=10, microseconds=1), store.running_here, asked.worker, 10)
        assert late == [(here, True, False)]

    def test_runs_in_its_worker_and_in_no_other(self, asked):
        assert call_at(LATER, store.running_here, uuid.uuid4(), 0) == []

    @pytest.mark.parametrize("attempt", [2, 3, 4])
    @pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING, Status.CANCELLED])
    def test_is_seen_by_the_holder_of_the_running_attempt(self, status, attempt):
        job = make_job(TenantFactory(), status, attempt=3, cancel_requested_at=timezone.now())
        holder = Seat(job.worker, job.worker_pid)
        assert store.cancel_requested(job.pk, attempt, holder) == (status == Status.RUNNING and attempt == 3)
        for elsewhere in (Seat(job.worker, NO_PID + 1), Seat(uuid.uuid4(), job.worker_pid)):
            assert not store.cancel_requested(job.pk, attempt, elsewhere)


@pytest.mark.django_db
class TestAPausedType:
    def test_is_not_started_but_put_off_and_waits_out_of_the_line(self):
        job = make_job(TenantFactory(), Status.QUEUED, attempt=3)
        pause(job)
        assert not VERBS["start"](job, 3)
        assert VERBS["put_off"](job, 3)
        job.refresh_from_db()
        assert job.due_at == HELD_UNTIL

    def test_a_job_whose_type_is_not_paused_is_not_put_off(self):
        job = make_job(TenantFactory(), Status.QUEUED, attempt=3)
        pause(make_job(TenantFactory(), source_method="other"))
        before = row(job)
        assert not VERBS["put_off"](job, 3)
        assert row(job) == before

    def test_a_job_that_is_due_is_held_instead_of_promoted(self):
        job = make_job(TenantFactory(), Status.SCHEDULED)
        pause(job)
        call_at(LATER, store.promote)
        job.refresh_from_db()
        assert (job.status, job.due_at) == ("scheduled", HELD_UNTIL)

    def test_is_not_released_and_no_job_that_waits_for_its_own_moment_is(self):
        held = make_job(TenantFactory(), Status.SCHEDULED, due_at=HELD_UNTIL)
        due = make_job(TenantFactory(), Status.SCHEDULED, source_method="other")
        pause(held)
        assert store.release() == []
        PausedJobType.objects.all().delete()
        assert [released.id for released in store.release()] == [held.pk]
        due.refresh_from_db()
        assert due.status == "scheduled"

    def test_holds_no_other_type(self):
        job = make_job(TenantFactory(), source_method="other")
        assert store.hold(job.source_type, "execute") == []
        assert store.hold("reports.other", job.source_method) == []


@pytest.mark.django_db
class TestDeadLetters:
    def test_an_unwanted_dead_letter_is_deleted_after_its_time(self):
        dead = make_job(TenantFactory(), Status.DEAD)
        FailedAttempt.objects.create(job=dead, attempt=1, end_time=dead.end_time)
        assert call_at(dead.died_at + timedelta(seconds=60), store.expire_dead, 60) == []
        assert moved(dead, call_at(dead.died_at + timedelta(seconds=60, microseconds=1), store.expire_dead, 60))
        assert not Job.objects.exists()
        assert not FailedAttempt.objects.exists()

    @pytest.mark.parametrize("status", sorted(set(Status) - {Status.DEAD}))
    def test_no_other_job_is(self, status):
        make_job(TenantFactory(), status)
        assert call_at(LATER, store.expire_dead, 0) == []

    def test_the_longest_dead_go_first(self):
        now = timezone.now()
        jobs = [make_job(TenantFactory(), Status.DEAD, died_at=now - timedelta(days=days)) for days in (1, 3, 2)]
        assert [store.expire_dead(60, batch=1)[0].id for _ in jobs] == [jobs[1].pk, jobs[2].pk, jobs[0].pk]
