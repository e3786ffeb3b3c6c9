"""A job whose type its worker does not know, as while a new release is rolled out."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import store
from jobs.calls import registry
from jobs.calls.refusals import UnknownTarget
from jobs.engine.attempt.body import UnknownJobType
from jobs.engine.door.dispatch import dispatch
from jobs.engine.upkeep import recover
from jobs.engine.verbs.cancel import cancel
from jobs.lifecycle import Status
from jobs.models import UNKNOWN_JOB_TYPE, Attempt, FailedAttempt, Job
from jobs.reading.explain.explanation import explain
from jobs.store import EVERY_TENANT
from tests.attempts import run, run_when_due
from tests.clock import call_at
from tests.sample.models import Run, Thing

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = "source_method: 'echo' is not a job"


@pytest.fixture
def job_id(thing, monkeypatch) -> int:
    """Of a job that this process does not know until `monkeypatch.undo`."""
    job_id = thing.async_.echo()
    monkeypatch.delattr(Thing, "echo")
    return job_id


def waits(job: Job) -> float:
    return round((job.due_at - Attempt.objects.latest("ended_at").ended_at).total_seconds())


def age(job_id: int, seconds: float) -> None:
    """Its attempts so far were as much earlier."""
    for kept in FailedAttempt.objects.filter(job=job_id):
        kept.start_time -= timedelta(seconds=seconds)
        kept.save()


def test_an_unknown_job_is_put_back_for_ever_longer_without_a_failure(job_id, sent):
    moment, delays = timezone.now(), []
    for _ in range(6):
        call_at(moment, store.promote)
        dispatch()
        job = call_at(moment, run, sent, job_id)
        assert (job.status, job.retries, job.crashes) == ("scheduled", 0, 0)
        delays.append((job.due_at - moment).total_seconds())
        moment = job.due_at
    assert delays == [5, 10, 20, 40, 60, 60]
    assert set(Attempt.objects.values_list("outcome", flat=True)) == {"snooze"}
    assert not Run.objects.exists()


def test_an_unknown_job_runs_normally_where_it_is_known(job_id, sent, monkeypatch):
    run(sent, job_id)
    monkeypatch.undo()
    ended = run_when_due(sent, job_id)
    assert (ended.status, ended.attempt, ended.retries, ended.crashes) == ("success", 2, 0, 0)


def test_when_patience_is_over_it_ends_with_the_error_of_who_was_never_known(job_id, sent, settings):
    run(sent, job_id)
    age(job_id, settings.JOBS_UNKNOWN_PATIENCE)
    ended = run_when_due(sent, job_id)
    assert ended.status == "error"
    assert ended.last_error.startswith(f"InvalidRequest: {TEXT}")
    assert ended.last_error.endswith("; if the code is newer than this worker, restart this worker")


def test_an_unknown_job_without_patience_fails_at_once(job_id, sent, settings):
    settings.JOBS_UNKNOWN_PATIENCE = 0
    assert run(sent, job_id).status == "error"


def test_patience_begins_anew_after_an_attempt_that_met_the_code(job_id, sent, settings, monkeypatch):
    run(sent, job_id)
    age(job_id, settings.JOBS_UNKNOWN_PATIENCE)
    monkeypatch.undo()
    job = Job.objects.get()
    # An attempt that failed for another reason came between: what was unknown before is over.
    FailedAttempt.objects.create(job=job, attempt=2, error_class="ValueError", error="", end_time=job.due_at)
    Job.objects.update(attempt=2)
    monkeypatch.delattr(Thing, "echo")
    ended = run_when_due(sent, job_id)
    assert (ended.status, ended.attempt) == ("scheduled", 3)
    assert waits(ended) == 5


def test_another_job_is_no_concern_of_it(job_id, thing, sent, settings, monkeypatch):
    run(sent, job_id)
    age(job_id, settings.JOBS_UNKNOWN_PATIENCE)
    other = thing.async_.again()
    monkeypatch.delattr(Thing, "again")
    assert run(sent, other).status == "scheduled"


def test_followers_of_an_unknown_job_go_on_waiting(job_id, thing, sent):
    follower = thing.async_(after=job_id).again()
    run(sent, job_id)
    dispatch()
    assert Job.objects.get(pk=follower).status == "blocked"


def test_an_unknown_job_that_was_asked_to_stop_is_cancelled(job_id, sent, monkeypatch):
    def asked(*names: str, **_: bool) -> None:
        cancel(job_id, tenant_id=EVERY_TENANT)
        raise UnknownTarget("source_method", "is unknown")

    monkeypatch.setattr(registry, "resolve", asked)
    assert run(sent, job_id).status == "cancelled"


def test_a_body_that_names_an_unknown_job_has_failed_as_by_any_error(thing, body, sent):
    def name_it(self) -> None:
        raise UnknownTarget("source_type", "'x' is unknown")

    body(name_it)
    assert run(sent, thing.async_.echo()).status == "error"


def test_explain_says_so(job_id, sent):
    run(sent, job_id)
    why = explain(job_id, tenant_id=EVERY_TENANT)
    assert why.sentence.startswith(f"No worker of pool default that got the job knows sample.thing.echo yet ({TEXT}")
    assert f"it is tried again, due at {why.opens_at:%Y-%m-%d %H:%M:%S} UTC." in why.sentence
    assert (why.used, why.limit) == (None, None)


def test_the_explanation_names_a_stopped_worker_too(thing, sent):
    job_id = thing.async_.echo()
    Job.objects.filter(pk=job_id).update(
        status=Status.RUNNING,
        worker="00000000-0000-0000-0000-000000000001",
        worker_pid=7,
        start_time="2030-01-01T00:00Z",
    )
    recover.take_back(job_id, 1, recover.STOPPED)
    why = explain(job_id, tenant_id=EVERY_TENANT)
    assert why.sentence.startswith("Its worker was stopped before it had ended: it runs again, due at ")


def test_the_error_is_named_as_the_statement_reads_it():
    assert UnknownJobType.__name__ == UNKNOWN_JOB_TYPE
