"""Every verb against every status: it goes its arrow where there is one, and elsewhere changes nothing at all."""

import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from jobs import store
from jobs.lifecycle import ARROWS, HOLDING, Arrow, Status
from jobs.models import WITNESSES, FailedAttempt, Job
from tests.factories import TenantFactory, make_job

WORKER = uuid.uuid4()
LATER = timezone.now() + timedelta(hours=1)


def claimed(job: Job, attempt: int) -> bool:
    return job.pk in {claimed.id for claimed in store.claim()}


# What each verb's statement says it applied. `attempt` is what its holder believes to hold.
VERBS = {
    "promote": lambda job, attempt: job.pk in {promoted.id for promoted in store.promote(now=LATER)},
    "claim": claimed,
    "start": lambda job, attempt: store.start(job.pk, attempt, WORKER) is not None,
    "succeed": lambda job, attempt: store.succeed(job.pk, attempt, {"rows": 3}, 60),
    "fail": lambda job, attempt: store.fail(job.pk, attempt, error_class="ValueError", error="no"),
    "take_back": lambda job, attempt: store.take_back(job.pk, attempt, "killed", max_crashes=2) == "created",
    "bury": lambda job, attempt: store.take_back(job.pk, attempt, "killed", max_crashes=1) == "dead",
    "cancel": lambda job, attempt: store.cancel(job.pk),
}
NOT_AN_ARROW = {
    "progress": lambda job, attempt: store.progress(job.pk, attempt, 0.5, "half"),
    "hand_over_again": lambda job, attempt: store.hand_over_again(patience=0, now=LATER) != [],
}


def row(job: Job) -> tuple[str, ...]:
    """The row as it lies there, and its version: equal only if no statement wrote it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT ctid::text, xmin::text, jobs::text FROM jobs WHERE id = %s", [job.pk])
        return cursor.fetchone()


def job_in(status: Status, register) -> Job:
    """A job in that status, in its third attempt, of a tenant that has a free slot and a worker that is idle."""
    register()
    return make_job(TenantFactory(queue__num_slots=5), status, attempt=3, queued_at=timezone.now())


def cases(arrows=ARROWS):
    """Arrow and status. A dispatch is a transaction of its own, so the claim's cases cannot run inside the test's."""
    return [
        pytest.param(
            arrow,
            status,
            marks=pytest.mark.django_db(transaction=arrow.verb == "claim"),
            id=f"{arrow.verb}-{status}",
        )
        for arrow in arrows
        for status in Status
    ]


def test_every_arrow_is_tried():
    assert set(VERBS) == {arrow.verb for arrow in ARROWS}


@pytest.mark.parametrize(("arrow", "status"), cases())
def test_a_verb_goes_its_arrow_from_its_own_statuses_and_changes_nothing_elsewhere(arrow: Arrow, status, register):
    job = job_in(status, register)
    before = row(job)
    applied = VERBS[arrow.verb](job, job.attempt)
    assert applied == (status in arrow.sources)
    if not applied:
        assert row(job) == before
        assert not FailedAttempt.objects.exists()
        return
    job.refresh_from_db()
    assert job.status == arrow.target
    set_witnesses = {column for column in WITNESSES if getattr(job, column) is not None}
    assert set_witnesses == {column for column, statuses in WITNESSES.items() if arrow.target in statuses}
    assert job.attempt == 3 + (arrow.verb == "claim")


@pytest.mark.parametrize("attempt", [2, 4], ids=["stale", "future"])
@pytest.mark.parametrize(("arrow", "status"), cases([arrow for arrow in ARROWS if arrow.fenced]))
def test_the_holder_of_another_attempt_changes_nothing_in_any_status(arrow: Arrow, status, attempt, register):
    job = job_in(status, register)
    before = row(job)
    assert not VERBS[arrow.verb](job, attempt)
    assert row(job) == before
    assert not FailedAttempt.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("attempt", [2, 3, 4])
@pytest.mark.parametrize("status", Status)
def test_only_the_holder_of_a_running_attempt_notes_its_progress(status, attempt, register):
    job = job_in(status, register)
    before = row(job)
    applied = NOT_AN_ARROW["progress"](job, attempt)
    assert applied == (status == Status.RUNNING and attempt == job.attempt) == (row(job) != before)


@pytest.mark.django_db
@pytest.mark.parametrize("status", Status)
def test_only_a_queued_job_is_handed_over_again(status, register, settings):
    settings.JOBS_BEAT_INTERVAL = 3600 * 24  # the worker is alive at that moment, too
    job = job_in(status, register)
    Job.objects.filter(pk=job.pk).update(handed_at=timezone.now())
    before = row(job)
    assert NOT_AN_ARROW["hand_over_again"](job, 0) == (status == Status.QUEUED) == (row(job) != before)
    job.refresh_from_db()
    assert (job.status, job.attempt) == (status, 3)


@pytest.mark.django_db
@pytest.mark.parametrize("verb", ["start", "succeed", "fail", "take_back", "bury", "cancel"])
def test_a_verb_that_names_a_job_touches_no_other(verb, register):
    status = Status.QUEUED if verb in {"start", "cancel"} else Status.RUNNING
    job = job_in(status, register)
    others = [make_job(job.tenant, status, attempt=3), make_job(TenantFactory(), status, attempt=3)]
    before = [row(other) for other in others]
    assert VERBS[verb](job, 3)
    assert [row(other) for other in others] == before


@pytest.mark.django_db
class TestWhatAVerbWrites:
    """Beside status and witness. `now` is a moment that the database's own clock does not show."""

    @pytest.fixture
    def running(self) -> Job:
        return make_job(TenantFactory(), Status.RUNNING, attempt=3, progress=0.5, last_error="Crashed: earlier")

    def test_promote_lets_the_job_wait_since_it_was_due(self):
        job = make_job(TenantFactory(), Status.SCHEDULED)
        store.promote(now=LATER)
        due = job.due_at
        job.refresh_from_db()
        assert job.ready_at == due

    def test_start_notes_who_and_when_and_returns_the_call(self):
        job = make_job(TenantFactory(), Status.QUEUED, args={"a": [1, "ü"]})
        started = store.start(job.pk, 1, WORKER, now=LATER)
        assert (started.args, started.source_id, started.tenant_id) == ({"a": [1, "ü"]}, "1", job.tenant_id)
        job.refresh_from_db()
        assert (job.worker, job.start_time) == (WORKER, LATER)

    def test_succeed_keeps_stats_and_until_when_the_result_is_there(self, running):
        store.succeed(running.pk, 3, {"rows": 3}, 60, now=LATER)
        running.refresh_from_db()
        assert (running.end_time, running.stats, running.progress, running.last_error) == (LATER, {"rows": 3}, 1, "")
        assert running.result_expires_at == LATER + timedelta(seconds=60)

    def test_succeed_without_a_result_says_that_none_was_kept(self, running):
        store.succeed(running.pk, 3, {}, None, now=LATER)
        running.refresh_from_db()
        assert running.result_expires_at is None

    def test_a_job_that_never_told_its_progress_has_none_in_the_end(self):
        job = make_job(TenantFactory(), Status.RUNNING)
        store.succeed(job.pk, 1, {}, None)
        job.refresh_from_db()
        assert job.progress is None

    def test_fail_keeps_the_attempt_and_why(self, running):
        store.fail(running.pk, 3, error_class="ValueError", error="no", traceback="Traceback ...", now=LATER)
        running.refresh_from_db()
        assert (running.end_time, running.last_error) == (LATER, "ValueError: no")
        kept = FailedAttempt.objects.get(job=running)
        assert (kept.attempt, kept.error_class, kept.error, kept.traceback) == (3, "ValueError", "no", "Traceback ...")
        assert (kept.worker, kept.start_time, kept.end_time) == (running.worker, running.start_time, LATER)

    def test_take_back_counts_the_crash_and_keeps_the_attempt(self, running):
        store.take_back(running.pk, 3, "killed", 3, now=LATER)
        running.refresh_from_db()
        assert (running.crashes, running.ready_at, running.last_error) == (1, LATER, "Crashed: killed")
        kept = FailedAttempt.objects.get(job=running)
        assert (kept.attempt, kept.error_class, kept.error, kept.end_time) == (3, "Crashed", "killed", LATER)

    def test_cancel_notes_when(self):
        job = make_job(TenantFactory(), Status.QUEUED)
        store.cancel(job.pk, now=LATER)
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


def test_those_that_hold_a_slot_are_the_queued_and_the_running():
    assert {arrow.target for arrow in ARROWS if arrow.verb in {"claim", "start"}} == HOLDING
