"""Every verb against every status: it goes its arrow where there is one, and elsewhere changes nothing at all."""

import pytest
from django.utils import timezone

from jobs import store
from jobs.lifecycle import ARROWS, Arrow, Status
from jobs.models import WITNESSES, FailedAttempt, Job
from tests.factories import TenantFactory, make_job
from tests.verbs import FOR_MANY, LATER, REASONS, VERBS, moved, row


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
    assert job.attempt == 3 + (arrow.verb in {"claim", "follow"})


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
