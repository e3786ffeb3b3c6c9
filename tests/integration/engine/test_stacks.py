"""An operator asks for the stack of a running body: which jobs, who answers, and what of it is kept."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import store
from jobs.console.cli import jobs_stack
from jobs.engine.upkeep.prune import prune
from jobs.engine.verbs.stack import ask_for_stack
from jobs.lifecycle import Status
from jobs.models import Job, Stack
from jobs.reading import stacks
from jobs.reading.explain.explanation import explain
from jobs.store import STACK_LATE
from tenants.models import Change
from tests.callers import caller_with_key, program_of, staff
from tests.clock import call_at
from tests.factories import TenantFactory, make_job
from tests.integration.cli.running import refusal, run
from tests.integration.dashboard.reading import text

pytestmark = pytest.mark.django_db(transaction=True)
LINE = '  File "/srv/app.py", line 3 in work'


@pytest.fixture
def job(register) -> Job:
    return make_job(TenantFactory(), Status.RUNNING, worker=register(), attempt=2)


def asked(job: Job, now=None) -> bool:
    """Whether the worker of the job is told that an operator waits."""
    return {row.id: asked for row, _, asked in call_at(now, store.running_here, job.worker, 0)}[job.pk]


@pytest.mark.parametrize("status", list(Status))
def test_only_a_running_job_is_asked_for_its_stack(status):
    job = make_job(TenantFactory(), status)
    assert (ask_for_stack(job.pk) is not None) == Stack.objects.exists() == (status == Status.RUNNING)
    assert ask_for_stack(2**62) is None


def test_its_worker_is_told_of_the_attempt_that_runs_until_it_is_late_or_answered(job, register):
    other = make_job(TenantFactory(), Status.RUNNING, worker=job.worker)
    stranger = make_job(TenantFactory(), Status.RUNNING, worker=register())
    ask_for_stack(job.pk)
    assert [asked(one) for one in (job, other, stranger)] == [True, False, False]
    at = Stack.objects.get().asked_at
    assert asked(job, at + timedelta(seconds=STACK_LATE - 0.001))
    assert not asked(job, at + timedelta(seconds=STACK_LATE))
    Job.objects.filter(pk=job.pk).update(attempt=3)
    assert not asked(job)
    Job.objects.filter(pk=job.pk).update(attempt=2)
    store.answer_stack(job.pk, 2, LINE)
    assert not asked(job)


def test_an_answer_is_that_of_its_attempt_and_is_never_changed(job):
    ask_for_stack(job.pk)
    store.answer_stack(job.pk, 1, "of an earlier attempt")
    assert Stack.objects.get().answered_at is None
    store.answer_stack(job.pk, 2, LINE)
    store.answer_stack(job.pk, 2, "a late one")
    number = ask_for_stack(job.pk)
    assert [stack.text for stack in stacks.of_job(job.pk)] == ["", LINE]
    now = stacks.numbered(number).asked_at
    assert "within a second or two" in stacks.said(stacks.numbered(number), now)
    assert "No answer within 10 s" in stacks.said(stacks.numbered(number), now + timedelta(seconds=10.1))
    store.answer_stack(job.pk, 2, "", "It does not run.")
    assert stacks.said(stacks.numbered(number), now) == "It does not run."


def test_a_stack_is_kept_for_a_day(job):
    ask_for_stack(job.pk)
    Stack.objects.update(asked_at=timezone.now() - timedelta(hours=25))
    ask_for_stack(job.pk)
    prune()
    assert Stack.objects.count() == 1


def answer(monkeypatch, *said: str) -> None:
    """Let the worker answer at once; without an answer: never."""

    def ask(job_id: int) -> int | None:
        number = ask_for_stack(job_id)
        if said:
            store.answer_stack(job_id, 2, *said)
        return number

    monkeypatch.setattr(jobs_stack, "ask_for_stack", ask)
    monkeypatch.setattr(store, "STACK_LATE", 0)


def test_the_command_shows_it_or_says_why_not(job, monkeypatch):
    answer(monkeypatch, f"{LINE}\n{LINE}")
    shown = run("jobs", "stack", job.pk).splitlines()
    assert shown[0].startswith(f"Job {job.pk}, attempt 2, at ")
    assert shown[1:] == [LINE, LINE]
    answer(monkeypatch, LINE)
    assert json.loads(run("jobs", "stack", job.pk, "--json")).items() >= {"id": job.pk, "stack": LINE}.items()
    answer(monkeypatch, "", "Its process gave no answer within 1 s.")
    assert run("jobs", "stack", job.pk) == "Its process gave no answer within 1 s.\n"
    answer(monkeypatch)
    assert run("jobs", "stack", job.pk).startswith("No answer within 10 s: ")
    waits = make_job(TenantFactory(), Status.CREATED)
    assert refusal("jobs", "stack", waits.pk) == f"id: job {waits.pk} is created; only a running job has a stack"


def test_operators_ask_over_http_and_no_tenant_does(job):
    operator, reader = program_of(staff("view_job", "change_job")), program_of(staff("view_job"))
    url = f"/api/v1/operator/jobs/{job.pk}/stack"
    assert reader.post(url).status_code == 403
    asked = operator.post(url)
    assert (asked.status_code, asked.json()["stack"]) == (202, [])
    assert "within a second or two" in asked.json()["note"]
    store.answer_stack(job.pk, 2, LINE)
    [told] = reader.get(url).json()
    assert (told["attempt"], told["stack"], told["note"]) == (2, [LINE], "")
    [entry] = Change.objects.all()
    assert (entry.who, entry.verb, int(entry.subject_id)) == (operator.user.username, "asked for its stack", job.pk)
    assert entry.tenant_id == job.tenant_id
    for tenant in (job.tenant, TenantFactory()):
        caller = caller_with_key(tenant)
        assert caller.post(url).status_code in (401, 403)
        assert caller.get(url).status_code in (401, 403)
        assert caller.get(f"/api/v1/jobs/{job.pk}/stack").status_code == 404
    waits = make_job(TenantFactory(), Status.CREATED)
    refused = operator.post(f"/api/v1/operator/jobs/{waits.pk}/stack")
    assert (refused.status_code, "only a running job" in refused.json()["detail"]) == (409, True)
    assert operator.post("/api/v1/operator/jobs/0/stack").status_code == 404


def test_the_silence_of_its_type_is_told_by_explain_and_on_its_page(register, client):
    what = {"source_type": "tests.sample.silent", "source_id": None, "source_method": "talk"}
    job = make_job(TenantFactory(), Status.RUNNING, worker=register(), **what)
    other = make_job(TenantFactory(), Status.RUNNING, worker=register())
    why = [explain(pk, tenant_id=store.EVERY_TENANT).sentence for pk in (job.pk, other.pk)]
    assert why[0].endswith(" It is ended once silent for 1.0 s.")
    assert "silent" not in why[1]
    client.force_login(staff("view_job"))
    assert ["Silence" in text(client.get(f"/ops/jobs/{pk}/")) for pk in (job.pk, other.pk)] == [True, False]


def test_a_button_on_its_page_asks_and_the_page_shows_the_answer(job, client):
    client.force_login(staff("view_job", "change_job"))
    page = f"/ops/jobs/{job.pk}/"
    assert "Show its stack" in text(client.get(page))
    asked = client.post(f"{page}stack", follow=True)
    assert f"Asked for the stack of job {job.pk}." in text(asked)
    assert "within a second or two" in text(client.get(page))
    store.answer_stack(job.pk, 2, LINE)
    assert "line 3 in work" in text(client.get(page))
    client.force_login(staff("view_job"))
    assert "Show its stack" not in text(client.get(page))
    assert client.post(f"{page}stack").status_code == 403
