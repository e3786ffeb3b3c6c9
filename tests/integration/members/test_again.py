"""A job again with other arguments: the member's own new job, if tenants may call its method; a stranger finds none."""

import pytest
from django.test import Client

from jobs.lifecycle import Status
from jobs.models import ERASED, Job
from jobs.reading.masked import DOTS
from tenants.models import TenantQueue
from tests.callers import browser_of
from tests.factories import MemberFactory, make_job
from tests.integration.members.reading import LIST, page

pytestmark = pytest.mark.django_db


@pytest.fixture
def done(tenant, report) -> Job:
    return make_job(tenant, Status.SUCCESS, source_id=str(report.pk), args={"parameters": {"a": 1, "token": "hunter2"}})


def path(job: Job) -> str:
    return f"{LIST}{job.pk}/again"


def test_the_form_has_the_arguments_without_what_is_masked(mate, done):
    assert f'href="{path(done)}"' in page(mate, f"{LIST}{done.pk}/")
    shown = page(mate, path(done))
    assert ("&quot;a&quot;: 1" in shown, DOTS in shown, "hunter2" in shown) == (True, True, False)


def test_a_new_job_of_the_member_is_submitted_with_the_arguments(mate, tenant, done):
    answer = mate.post(path(done), {"args": '{"parameters": {"a": 2}}'})
    job = Job.objects.latest("pk")
    assert answer["Location"] == f"{LIST}{job.pk}/"
    assert (job.tenant, job.source_id, job.args) == (tenant, done.source_id, {"parameters": {"a": 2}})
    assert (job.user_key, job.queue.name, job.status) == (str(mate.user.pk), "reports", "created")
    assert f"Job {job.pk} is submitted." in page(mate, f"{LIST}{job.pk}/")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ("{", "args: must be a JSON object"),
        ('{"nothing": 1}', "args: do not fit execute"),
        ('{"parameters": {"token": "•••"}}', "type that value again"),
        ('{"a": ' + "[" * 700 + "]" * 700 + "}", "args: are nested more than 50 levels deep"),
        ("\n" * 1_000_000 + "{", "args: must be a JSON object"),  # in a moment, and not in hours
    ],
    ids=["no JSON", "not its arguments", "masked", "very deep", "very long"],
)
def test_a_fault_is_shown_beside_the_input(mate, done, args, told):
    answer = mate.post(path(done), {"args": args})
    assert (answer.status_code, told in answer.content.decode()) == (422, True)
    assert Job.objects.count() == 1


def test_a_full_backlog_is_told(mate, tenant, done):
    TenantQueue.objects.filter(tenant=tenant).update(max_waiting=0)
    assert "The backlog is full" in mate.post(path(done), {"args": "{}"}).content.decode()


def test_a_stranger_finds_no_such_job(done):
    stranger = browser_of(MemberFactory().user)
    assert stranger.get(path(done)).status_code == stranger.post(path(done), {"args": "{}"}).status_code == 404
    assert Client().get(path(done)).status_code == 302
    assert Job.objects.count() == 1


def test_jobs_that_tenants_may_not_call_or_that_were_erased_are_not_offered(mate, tenant, done):
    inner = make_job(tenant, Status.SUCCESS, source_type="sample.thing", source_id="1", source_method="echo")
    assert path(inner) not in page(mate, f"{LIST}{inner.pk}/")
    Job.objects.filter(pk=done.pk).update(dedup_key=ERASED)
    for job in (inner, done):
        assert mate.post(path(job), {"args": "{}"}).status_code == 404


def test_the_form_needs_the_token_of_its_page(mate, done):
    strict = browser_of(mate.user, enforce_csrf_checks=True)
    assert strict.post(path(done), {"args": "{}"}).status_code == 403
