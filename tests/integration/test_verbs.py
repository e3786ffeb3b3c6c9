"""Every verb against every status: it goes its arrow where there is one, and elsewhere changes nothing at all."""

import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from jobs import store
from jobs.lifecycle import ARROWS, HOLDING, Arrow, Status
from jobs.models import HELD_UNTIL, WITNESSES, FailedAttempt, Job, PausedJobType
from jobs.store import Failure
from tests.factories import QueueFactory, TenantFactory, make_job

WORKER = uuid.uuid4()
REFUSED = Failure("ValueError", "no", "Traceback ...")
KILLED = Failure("Crashed", "killed")
LATER = timezone.now() + timedelta(hours=1)


def moved(job: Job, those: list) -> bool:
    return job.pk in {one.id for one in those}


def pause(job: Job) -> None:
    PausedJobType.objects.create(source_type=job.source_type, source_method=job.source_method)


# What each verb's statement says it applied. `attempt` is what its holder believes to hold.
VERBS = {
    "promote": lambda job, attempt: moved(job, store.promote(now=LATER)),
    "claim": lambda job, attempt: moved(job, store.claim()),
    "start": lambda job, attempt: store.start(job.pk, attempt, WORKER) is not None,
    "succeed": lambda job, attempt: store.succeed(job.pk, attempt, {"rows": 3}, 60),
    "fail": lambda job, attempt: store.fail(job.pk, attempt, REFUSED),
    "bury": lambda job, attempt: store.fail(job.pk, attempt, REFUSED, dead=True),
    "retry": lambda job, attempt: store.retry(job.pk, attempt, REFUSED, delay=10),
    "snooze": lambda job, attempt: store.snooze(job.pk, attempt, {}, delay=10),
    "stop": lambda job, attempt: store.stop(job.pk, attempt),
    "take_back": lambda job, attempt: store.take_back(job.pk, attempt, KILLED, max_crashes=2) == "created",
    "put_off": lambda job, attempt: store.put_off(job.pk, attempt),
    "hold": lambda job, attempt: moved(job, store.hold(job.source_type, job.source_method)),
    "release": lambda job, attempt: moved(job, store.release()),
    "cancel": lambda job, attempt: store.cancel(job.pk),
    "revive": lambda job, attempt: store.revive(job.pk),
    "discard": lambda job, attempt: store.discard(job.pk),
}
FOR_MANY = {"promote", "claim", "hold", "release"}  # these name no job
# What has to be so before, for the verb to have a reason.
REASONS = {
    "stop": lambda job: Job.objects.filter(pk=job.pk).update(cancel_requested_at=timezone.now()),
    "put_off": pause,
    "release": lambda job: Job.objects.filter(pk=job.pk, status="scheduled").update(due_at=HELD_UNTIL),
}


def row(job: Job) -> tuple[str, ...]:
    """The row as it lies there, and its version: equal only if no statement wrote it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT ctid::text, xmin::text, jobs::text FROM jobs WHERE id = %s", [job.pk])
        return cursor.fetchone()


def job_in(status: Status, register, verb: str = "") -> Job:
    """A job in that status, in its third attempt, of a tenant that has a free slot and a worker that is idle."""
    register()
    job = make_job(TenantFactory(queue__num_slots=5), status, attempt=3, queued_at=timezone.now())
    REASONS.get(verb, lambda job: None)(job)
    return job


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
    job = job_in(status, register, arrow.verb)
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
    job = job_in(status, register, arrow.verb)
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
    applied = store.progress(job.pk, attempt, 0.5, "half")
    assert applied == (status == Status.RUNNING and attempt == job.attempt) == (row(job) != before)


@pytest.mark.django_db
@pytest.mark.parametrize("status", Status)
def test_only_a_queued_job_is_handed_over_again(status, register, settings):
    settings.JOBS_BEAT_INTERVAL = 3600 * 24  # the worker is alive at that moment, too
    job = job_in(status, register)
    Job.objects.filter(pk=job.pk).update(handed_at=timezone.now())
    before = row(job)
    assert moved(job, store.hand_over_again(patience=0, now=LATER)) == (status == Status.QUEUED) == (row(job) != before)
    job.refresh_from_db()
    assert (job.status, job.attempt) == (status, 3)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "arrow", [arrow for arrow in ARROWS if arrow.verb not in FOR_MANY], ids=lambda arrow: arrow.verb
)
def test_a_verb_that_names_a_job_touches_no_other(arrow: Arrow, register):
    status = max(arrow.sources)
    job = job_in(status, register, arrow.verb)
    others = [make_job(job.tenant, status, attempt=3), make_job(TenantFactory(), status, attempt=3)]
    Job.objects.filter(pk__in=[other.pk for other in others]).update(cancel_requested_at=job.cancel_requested_at)
    before = [row(other) for other in others]
    assert VERBS[arrow.verb](job, 3)
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

    @pytest.mark.parametrize("verb", ["fail", "bury", "retry", "take_back"])
    def test_a_failed_attempt_is_kept_with_why_and_when(self, verb, running):
        go = {
            "fail": lambda: store.fail(running.pk, 3, REFUSED, now=LATER),
            "bury": lambda: store.fail(running.pk, 3, REFUSED, dead=True, now=LATER),
            "retry": lambda: store.retry(running.pk, 3, REFUSED, delay=10, now=LATER),
            "take_back": lambda: store.take_back(running.pk, 3, REFUSED, 3, now=LATER),
        }
        assert go[verb]()
        running.refresh_from_db()
        assert running.last_error == "ValueError: no"
        kept = FailedAttempt.objects.get(job=running)
        assert (kept.attempt, kept.error_class, kept.error) == (3, "ValueError", "no")
        assert kept.traceback == ("" if verb == "take_back" else "Traceback ...")
        assert (kept.worker, kept.start_time, kept.end_time) == (running.worker, running.start_time, LATER)

    def test_bury_notes_when_the_job_died(self, running):
        store.fail(running.pk, 3, REFUSED, dead=True, now=LATER)
        running.refresh_from_db()
        assert (running.died_at, running.end_time) == (LATER, LATER)

    def test_retry_waits_out_the_delay_and_counts(self, running):
        store.retry(running.pk, 3, REFUSED, delay=10, now=LATER)
        running.refresh_from_db()
        assert (running.due_at, running.retries, running.queue.name) == (LATER + timedelta(seconds=10), 1, "default")

    def test_retry_may_go_to_another_queue(self, running):
        QueueFactory(name="retries")
        store.retry(running.pk, 3, REFUSED, delay=10, queue="retries")
        running.refresh_from_db()
        assert running.queue.name == "retries"

    def test_snooze_waits_and_counts_nothing(self, running):
        store.snooze(running.pk, 3, {"page": 2}, delay=10, now=LATER)
        running.refresh_from_db()
        assert (running.due_at, running.retries, running.crashes) == (LATER + timedelta(seconds=10), 0, 0)
        assert running.stats == {"page": 2}
        assert not FailedAttempt.objects.exists()

    def test_take_back_counts_the_crash(self, running):
        store.take_back(running.pk, 3, KILLED, 3, now=LATER)
        running.refresh_from_db()
        assert (running.crashes, running.retries, running.ready_at) == (1, 0, LATER)

    def test_revive_begins_a_new_series_under_the_next_attempt(self):
        job = make_job(
            TenantFactory(), Status.DEAD, attempt=7, retries=5, crashes=3, progress=0.5, dedup_key=uuid.uuid4()
        )
        store.revive(job.pk, now=LATER)
        job.refresh_from_db()
        assert (job.attempt, job.retries, job.crashes, job.ready_at) == (7, 0, 0, LATER)
        assert (job.died_at, job.progress, job.dedup_key) == (None, None, None)

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


@pytest.mark.django_db
class TestACancellationThatWasRequested:
    @pytest.fixture
    def asked(self) -> Job:
        return make_job(TenantFactory(), Status.RUNNING, attempt=3, cancel_requested_at=timezone.now())

    @pytest.mark.parametrize("verb", ["retry", "snooze"])
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

    @pytest.mark.parametrize("status", Status)
    def test_only_a_running_job_is_asked_to_stop(self, status):
        job = make_job(TenantFactory(), status)
        before = row(job)
        assert store.request_cancel(job.pk) == (status == Status.RUNNING) == (row(job) != before)

    def test_asked_again_it_is_as_old_as_the_first_time(self, asked):
        store.request_cancel(asked.pk, now=LATER)
        first = asked.cancel_requested_at
        asked.refresh_from_db()
        assert asked.cancel_requested_at == first

    def test_is_overdue_after_its_grace(self, asked):
        first = asked.cancel_requested_at
        assert store.overdue_cancels(10, now=first + timedelta(seconds=10)) == []
        late = store.overdue_cancels(10, now=first + timedelta(seconds=10, microseconds=1))
        assert [(job.id, job.attempt) for job in late] == [(asked.pk, 3)]

    @pytest.mark.parametrize("attempt", [2, 3, 4])
    @pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING, Status.CANCELLED])
    def test_is_seen_by_the_holder_of_the_running_attempt(self, status, attempt):
        job = make_job(TenantFactory(), status, attempt=3, cancel_requested_at=timezone.now())
        assert store.cancel_requested(job.pk, attempt) == (status == Status.RUNNING and attempt == 3)


@pytest.mark.django_db
class TestAPausedType:
    def test_is_not_started_but_put_off_and_waits_out_of_the_line(self):
        job = make_job(TenantFactory(), Status.QUEUED, attempt=3)
        pause(job)
        assert not VERBS["start"](job, 3)
        assert VERBS["put_off"](job, 3)
        job.refresh_from_db()
        assert job.due_at == HELD_UNTIL

    def test_what_is_not_paused_is_not_put_off(self):
        job = make_job(TenantFactory(), Status.QUEUED, attempt=3)
        pause(make_job(TenantFactory(), source_method="other"))
        before = row(job)
        assert not VERBS["put_off"](job, 3)
        assert row(job) == before

    def test_a_job_that_is_due_is_held_instead_of_promoted(self):
        job = make_job(TenantFactory(), Status.SCHEDULED)
        pause(job)
        store.promote(now=LATER)
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
    def test_one_that_nobody_wanted_back_is_deleted_after_its_time(self):
        dead = make_job(TenantFactory(), Status.DEAD)
        FailedAttempt.objects.create(job=dead, attempt=1, end_time=dead.end_time)
        assert store.expire_dead(60, now=dead.died_at + timedelta(seconds=60)) == []
        assert moved(dead, store.expire_dead(60, now=dead.died_at + timedelta(seconds=60, microseconds=1)))
        assert not Job.objects.exists()
        assert not FailedAttempt.objects.exists()

    @pytest.mark.parametrize("status", sorted(set(Status) - {Status.DEAD}))
    def test_no_other_job_is(self, status):
        make_job(TenantFactory(), status)
        assert store.expire_dead(0, now=LATER) == []

    def test_the_longest_dead_go_first(self):
        now = timezone.now()
        jobs = [make_job(TenantFactory(), Status.DEAD, died_at=now - timedelta(days=days)) for days in (1, 3, 2)]
        assert [store.expire_dead(60, batch=1)[0].id for _ in jobs] == [jobs[1].pk, jobs[2].pk, jobs[0].pk]
