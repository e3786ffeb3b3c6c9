"""What a verb notes in the row, and beside it, when it goes its arrow."""

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import store
from jobs.lifecycle import Status
from jobs.models import FailedAttempt, Job
from jobs.store import EVERY_TENANT, Seat
from plumbing.error_shapes import key_of
from tests.clock import call_at
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.verbs import KILLED, LATER, REFUSED, WORKER


@pytest.mark.django_db
class TestWhatAVerbWrites:
    """Beside status and witness. `now` is a moment that the database's own clock does not show."""

    @pytest.fixture
    def running(self) -> Job:
        return make_job(TenantFactory(), Status.RUNNING, attempt=3, progress=0.5, last_error="Crashed: earlier")

    def test_promote_lets_the_job_wait_since_it_was_due(self):
        job = make_job(TenantFactory(), Status.SCHEDULED)
        call_at(LATER, store.promote)
        due = job.due_at
        job.refresh_from_db()
        assert job.ready_at == due

    def test_start_notes_who_and_when_and_returns_the_call(self):
        job = make_job(TenantFactory(), Status.QUEUED, args={"a": [1, "ü"]})
        started = call_at(LATER, store.start, job.pk, 1, store.Seat.here(WORKER))
        assert (started.args, started.source_id, started.tenant_id) == ({"a": [1, "ü"]}, "1", job.tenant_id)
        job.refresh_from_db()
        assert (job.worker, job.start_time) == (WORKER, LATER)

    def test_start_returns_the_time_limit_of_the_job_else_of_its_queue_else_of_the_setting(self, settings):
        settings.JOBS_DEFAULT_TIMEOUT = 99
        quick = QueueFactory(name="quick", default_timeout=3)
        jobs = [
            make_job(TenantFactory(), Status.QUEUED, queue=quick, timeout=1),
            make_job(TenantFactory(), Status.QUEUED, queue=quick),
            make_job(TenantFactory(), Status.QUEUED),
        ]
        assert [store.start(job.pk, 1, store.Seat.here(WORKER)).timeout for job in jobs] == [1, 3, 99]

    def test_succeed_keeps_stats_and_until_when_the_result_is_there(self, running):
        call_at(LATER, store.succeed, running.pk, 3, {"rows": 3}, 60)
        running.refresh_from_db()
        assert (running.end_time, running.stats, running.progress, running.last_error) == (LATER, {"rows": 3}, 1, "")
        assert running.result_expires_at == LATER + timedelta(seconds=60)

    def test_succeed_without_a_result_says_that_none_was_kept(self, running):
        call_at(LATER, store.succeed, running.pk, 3, {}, None)
        running.refresh_from_db()
        assert running.result_expires_at is None

    def test_a_job_that_never_told_its_progress_has_none_in_the_end(self):
        job = make_job(TenantFactory(), Status.RUNNING)
        store.succeed(job.pk, 1, {}, None)
        job.refresh_from_db()
        assert job.progress is None

    @pytest.mark.parametrize("verb", ["fail", "bury", "retry", "take_back"])
    def test_a_failed_attempt_is_kept_with_why_and_when(self, verb, running):
        go = {
            "fail": lambda: call_at(LATER, store.fail, running.pk, 3, REFUSED),
            "bury": lambda: call_at(LATER, store.fail, running.pk, 3, REFUSED, dead=True),
            "retry": lambda: call_at(LATER, store.retry, running.pk, 3, REFUSED, delay=10),
            "take_back": lambda: call_at(LATER, store.take_back, running.pk, 3, REFUSED, 3),
        }
        assert go[verb]()
        running.refresh_from_db()
        assert running.last_error == "ValueError: no"
        kept = FailedAttempt.objects.get(job=running)
        assert (kept.attempt, kept.error_class, kept.error) == (3, "ValueError", "no")
        assert kept.traceback == ("" if verb == "take_back" else "Traceback ...")
        assert (kept.worker, kept.start_time, kept.end_time) == (running.worker, running.start_time, LATER)

    def test_bury_notes_when_the_job_died(self, running):
        call_at(LATER, store.fail, running.pk, 3, REFUSED, dead=True)
        running.refresh_from_db()
        assert (running.died_at, running.end_time) == (LATER, LATER)

    @pytest.mark.parametrize("verb", ["bury", "take_back"])
    def test_what_dies_notes_the_shape_of_its_error_and_nothing_else_does(self, verb, running):
        other = make_job(running.tenant, Status.RUNNING, attempt=3)
        if verb == "bury":
            store.fail(running.pk, 3, REFUSED, dead=True)
            store.fail(other.pk, 3, REFUSED)
        else:
            store.take_back(running.pk, 3, REFUSED, 1)
            store.take_back(other.pk, 3, REFUSED, 2)
        noted = dict(Job.objects.values_list("pk", "error_key"))
        assert noted == {running.pk: key_of("ValueError: no"), other.pk: None}

    def test_retry_waits_out_the_delay_and_counts(self, running):
        call_at(LATER, store.retry, running.pk, 3, REFUSED, delay=10)
        running.refresh_from_db()
        assert (running.due_at, running.retries, running.queue.name) == (LATER + timedelta(seconds=10), 1, "default")

    def test_retry_may_go_to_another_queue(self, running):
        QueueFactory(name="retries")
        store.retry(running.pk, 3, REFUSED, delay=10, queue="retries")
        running.refresh_from_db()
        assert running.queue.name == "retries"

    def test_snooze_waits_and_counts_nothing(self, running):
        call_at(LATER, store.snooze, running.pk, 3, {"page": 2}, delay=10)
        running.refresh_from_db()
        assert (running.due_at, running.retries, running.crashes) == (LATER + timedelta(seconds=10), 0, 0)
        assert running.stats == {"page": 2}
        assert not FailedAttempt.objects.exists()

    @pytest.mark.parametrize(
        ("before", "pause"), [(0, 1), (1, 2), (2, 4), (11, 2048), (12, 3600), (5000, 3600)], ids=str
    )
    def test_take_back_counts_the_crash_and_waits_twice_as_long_after_each(self, before, pause, running):
        Job.objects.update(crashes=before)
        call_at(LATER, store.take_back, running.pk, 3, KILLED, 9999)
        running.refresh_from_db()
        assert (running.crashes, running.retries) == (before + 1, 0)
        assert running.due_at == LATER + timedelta(seconds=pause)

    @pytest.mark.parametrize("crashes", [0, 2])
    def test_take_back_of_what_had_not_started_counts_no_crash(self, crashes):
        job = make_job(TenantFactory(), Status.QUEUED, attempt=3, crashes=crashes)
        assert call_at(LATER, store.take_back, job.pk, 3, KILLED, 1) == "scheduled"
        job.refresh_from_db()
        assert (job.crashes, job.due_at) == (crashes, LATER + timedelta(seconds=max(crashes, 1)))

    def test_revive_begins_a_new_series_under_the_next_attempt(self):
        job = make_job(
            TenantFactory(), Status.DEAD, attempt=7, retries=5, crashes=3, progress=0.5, dedup_key=uuid.uuid4()
        )
        call_at(LATER, store.revive, job.pk, tenant_id=EVERY_TENANT)
        job.refresh_from_db()
        assert (job.attempt, job.retries, job.crashes, job.ready_at) == (7, 0, 0, LATER)
        assert (job.died_at, job.progress, job.dedup_key) == (None, None, None)

    def test_cancel_notes_when(self):
        job = make_job(TenantFactory(), Status.QUEUED)
        call_at(LATER, store.cancel, [job.pk], tenant_id=EVERY_TENANT)
        job.refresh_from_db()
        assert job.end_time == LATER


@pytest.mark.django_db(transaction=True)
def test_claim_counts_the_attempt_and_forgets_the_last_holder(register):
    register()
    before = timezone.now() - timedelta(minutes=1)
    tenant = TenantFactory(queue__num_slots=1)
    job = make_job(tenant, attempt=3, worker=WORKER, start_time=before, progress=0.7, progress_note="was here")
    store.claim()
    job.refresh_from_db()
    assert (job.attempt, job.slot, job.worker, job.start_time) == (4, 1, None, None)
    assert (job.progress, job.progress_note) == (None, "")
    assert before < job.queued_at == job.handed_at


@pytest.mark.django_db
class TestTheHolder:
    """What a parent process is told of the attempt that ran in a child: only of that one, and only while it runs."""

    @pytest.fixture
    def running(self) -> Job:
        return make_job(TenantFactory(), Status.RUNNING, attempt=3, worker=WORKER, worker_pid=7, args={"a": [1]})

    def test_of_the_attempt_in_that_process_it_is_what_it_was_given(self, running):
        found = store.still_running(running.pk, 3, Seat(WORKER, 7))
        assert (found.id, found.attempt, found.tenant_id, found.args) == (running.pk, 3, running.tenant_id, {"a": [1]})
        assert store.still_running(running.pk, 3).id == found.id

    @pytest.mark.parametrize("attempt", [2, 4])
    def test_of_another_attempt_it_is_nothing(self, attempt, running):
        assert store.still_running(running.pk, attempt) is None

    def test_of_another_process_or_worker_it_is_nothing(self, running):
        assert store.still_running(running.pk, 3, Seat(WORKER, 8)) is None
        assert store.still_running(running.pk, 3, Seat(uuid.uuid4(), 7)) is None

    @pytest.mark.parametrize("status", sorted(set(Status) - {Status.RUNNING}))
    def test_of_a_job_that_does_not_run_it_is_nothing(self, status):
        job = make_job(TenantFactory(), status, attempt=3, worker=WORKER, worker_pid=7)
        assert store.still_running(job.pk, 3, Seat(WORKER, 7)) is None
