"""The log of attempts: each that ended has exactly one row, whoever ended it and however often it was tried."""

import os
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import store
from jobs.authoring.exceptions import EventWait
from jobs.lifecycle import ARROWS, HandBack, Status
from jobs.models import Attempt, Job
from jobs.store import Failure, Holder
from tests.clock import call_at
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.sql import sql
from tests.verbs import REASONS, VERBS

OUTCOMES = {
    "succeed": "success",
    "fail": "error",
    "bury": "dead",
    "bury by take_back": "dead",
    "retry": "retry",
    "snooze": "snooze",
    "hand_back": "hand_back",
    "wait_for": "wait_for",
    "stop": "cancelled",
    "stop by take_back": "cancelled",
    "take_back": "crash",
}
NOW = timezone.now()


def running(verb: str = "", **fields) -> Job:
    since = {"waited_since": NOW - timedelta(seconds=5), "queued_at": NOW - timedelta(seconds=2)}
    job = make_job(TenantFactory(), Status.RUNNING, attempt=3, **{**since, **fields})
    REASONS.get(verb, lambda job: None)(job)
    return job


def log() -> list[tuple[int, int, str]]:
    return list(Attempt.objects.order_by("ended_at", "job_id").values_list("job_id", "attempt", "outcome"))


def test_every_arrow_that_ends_a_running_attempt_has_an_outcome():
    ending = {arrow.verb for arrow in ARROWS if Status.RUNNING in arrow.sources}
    assert {name.partition(" by ")[0] for name in OUTCOMES} == ending


@pytest.mark.django_db
class TestOneRow:
    @pytest.mark.parametrize("verb", OUTCOMES)
    def test_each_end_of_a_running_attempt_is_in_the_log_once(self, verb):
        job = running(verb)
        assert VERBS[verb](job, 3)
        assert log() == [(job.pk, 3, OUTCOMES[verb])]
        assert not VERBS[verb](job, 3)
        assert log() == [(job.pk, 3, OUTCOMES[verb])]

    @pytest.mark.parametrize("verb", OUTCOMES)
    @pytest.mark.parametrize("attempt", [2, 4])
    def test_the_holder_of_another_attempt_leaves_no_row(self, verb, attempt):
        assert not VERBS[verb](running(verb), attempt)
        assert log() == []

    @pytest.mark.parametrize("verb", ["take_back", "put_off", "cancel"])
    def test_an_attempt_that_never_started_has_none(self, verb):
        job = make_job(TenantFactory(), Status.QUEUED)
        REASONS.get(verb, lambda job: None)(job)
        assert VERBS[verb](job, 1)
        assert log() == []

    def test_a_stop_of_its_worker_is_no_crash(self):
        job = running()
        store.take_back(job.pk, 3, Failure("WorkerStopped", "told to"), max_crashes=1, forgiven=1)
        assert log() == [(job.pk, 3, "stopped")]

    def test_an_end_that_is_rolled_back_is_not_in_the_log(self):
        from django.db import transaction

        with transaction.atomic():
            store.succeed(running().pk, 3, {}, None)
            transaction.set_rollback(True)
        assert log() == []


@pytest.mark.django_db
class TestFacts:
    def test_a_row_says_where_and_when_the_attempt_waited_and_ran(self):
        job = running(queue=QueueFactory(name="reports"), user_key="ines", priority=2)
        assert call_at(NOW, store.succeed, job.pk, 3, {}, 60, 12, peak_memory=77)
        row = Attempt.objects.get()
        job.refresh_from_db()
        same = ("tenant_id", "queue_id", "source_type", "source_method", "priority", "user_key", "worker", "worker_pid")
        assert [getattr(row, name) for name in same] == [getattr(job, name) for name in same]
        times = (row.waited_since, row.queued_at, row.start_time, row.ended_at)
        assert times == (job.waited_since, job.queued_at, job.start_time, NOW)
        assert (row.result_bytes, row.peak_memory, job.peak_memory) == (12, 77, 77)

    def test_a_retry_counts_for_the_queue_that_the_job_leaves(self):
        job = running()
        QueueFactory(name="retries")
        store.retry(job.pk, 3, Failure("E", "e"), delay=1, queue="retries")
        assert Attempt.objects.get().queue_id == job.queue_id

    @pytest.mark.parametrize("verb", [verb for verb in OUTCOMES if "take_back" not in verb and verb != "succeed"])
    def test_every_settling_notes_the_memory(self, verb):
        job = running(verb)
        failure = Failure("E", "e")
        {
            "fail": lambda: store.fail(job.pk, 3, failure, peak_memory=9),
            "bury": lambda: store.fail(job.pk, 3, failure, dead=True, peak_memory=9),
            "retry": lambda: store.retry(job.pk, 3, failure, delay=1, peak_memory=9),
            "snooze": lambda: store.snooze(job.pk, 3, {}, delay=1, peak_memory=9),
            "hand_back": lambda: store.hand_back(job.pk, 3, HandBack.DRAIN, {}, peak_memory=9),
            "wait_for": lambda: store.wait_for(job.pk, 3, EventWait("approved", 60), {}, peak_memory=9),
            "stop": lambda: store.stop(job.pk, 3, {}, peak_memory=9),
        }[verb]()
        assert Attempt.objects.get().peak_memory == 9

    def test_a_crash_has_no_memory(self):
        job = running()
        store.take_back(job.pk, 3, Failure("E", "e"), max_crashes=3)
        assert Attempt.objects.get().peak_memory is None


@pytest.mark.django_db(transaction=True)
class TestWaits:
    @pytest.fixture
    def worker(self, register, exact_capacity) -> uuid.UUID:
        return register(concurrency=1)

    def test_the_claim_keeps_since_when_the_job_was_ready(self, worker):
        job = make_job(TenantFactory(), ready_at=NOW - timedelta(minutes=3), peak_memory=9)
        assert store.claim()
        job.refresh_from_db()
        assert (job.waited_since, job.peak_memory) == (NOW - timedelta(minutes=3), None)

    def test_in_a_slice_every_attempt_has_its_row_and_its_own_wait(self, worker):
        tenant = TenantFactory(queue__num_slots=1)
        jobs = [make_job(tenant, ready_at=NOW - timedelta(seconds=n), peak_memory=9) for n in (3, 2, 1)]
        assert len(store.claim()) == 1
        started = store.start(jobs[0].pk, 1, store.Seat.here(worker))
        while started is not None:
            _, started = store.succeed_and_follow(started.id, 1, {}, None, by=started.holder)
        rows = Attempt.objects.order_by("ended_at").values_list("job_id", "attempt", "outcome", "waited_since")
        waits = zip(jobs, (3, 2, 1), strict=True)
        assert list(rows) == [(job.pk, 1, "success", NOW - timedelta(seconds=n)) for job, n in waits]

    def test_a_stale_holder_of_a_slice_adds_nothing(self, worker):
        tenant = TenantFactory(queue__num_slots=1)
        first, second = make_job(tenant), make_job(tenant)
        store.claim()
        holder = store.start(first.pk, 1, store.Seat.here(worker)).holder
        settle = lambda: store.succeed_and_follow(first.pk, 1, {}, None, by=holder)  # noqa: E731
        assert settle()[0]
        assert settle() == (False, None)
        stranger = Holder(worker, os.getpid() + 1)
        assert not store.succeed(second.pk, 1, {}, None, by=stranger)
        assert [job for job, *_ in log()] == [first.pk]


@pytest.mark.django_db
def test_the_log_has_no_index_but_of_time():
    ((name, definition),) = sql("SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'attempts'")
    assert name == "attempts_ended"
    assert "USING brin (ended_at)" in definition


@pytest.mark.django_db
def test_the_columns_that_an_end_writes_are_in_no_index_of_jobs():
    definitions = " ".join(
        definition for (definition,) in sql("SELECT indexdef FROM pg_indexes WHERE tablename = 'jobs'")
    )
    assert "waited_since" not in definitions
    assert "peak_memory" not in definitions
