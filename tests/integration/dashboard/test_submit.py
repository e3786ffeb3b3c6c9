"""Jobs submitted from the pages: checked as by command, noted, with nothing of what is masked or another tenant's."""

import re

import pytest
from django.contrib.messages import get_messages

from jobs.lifecycle import Status
from jobs.models import Job
from jobs.reading.masked import DOTS
from tenants.models import Change
from tests.factories import QueueFactory, TenantFactory, ThingFactory, make_job

pytestmark = pytest.mark.django_db


@pytest.fixture
def thing():
    QueueFactory(name="default")
    return ThingFactory(tenant=TenantFactory(slug="acme"))


@pytest.fixture
def admin(operator):
    return operator("add_job", "view_job")


def form(thing, **more: str) -> dict[str, str]:
    return {"tenant": "acme", "call": "sample.thing.echo", "object": str(thing.pk), "args": '{"value": 3}', **more}


def filled(page: str) -> dict[str, str]:
    return dict(re.findall(r'<input name="(tenant|call|object|user)" value="([^"]*)"', page))


def test_a_job_is_submitted_as_said_noted_and_shown(admin, thing):
    answer = admin.post("/ops/jobs/submit", form(thing, priority="2", user="ines"))
    job = Job.objects.get()
    assert answer["Location"] == f"/ops/jobs/{job.pk}/"
    assert [str(message) for message in get_messages(answer.wsgi_request)] == [f"Submitted job {job.pk}."]
    assert (job.tenant, job.source_id, job.args) == (thing.tenant, str(thing.pk), {"value": 3})
    assert (job.priority, job.user_key, job.queue.name) == (2, "ines", "default")
    change = Change.objects.get()
    assert (change.who, change.verb, change.tenant_id) == (admin.user.username, "submitted", thing.tenant_id)


def test_an_identical_one_is_told_and_another_made_only_on_request(admin, thing):
    first = admin.post("/ops/jobs/submit", form(thing))["Location"]
    assert admin.post("/ops/jobs/submit", form(thing))["Location"] == first
    assert admin.post("/ops/jobs/submit", form(thing, anyway="1"))["Location"] != first


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"tenant": "acne"}, "Tenant: &#x27;acne&#x27; is unknown; known: "),
        ({"tenant": "other"}, "belongs to tenant"),
        ({"call": "sample.thing.not_a_job"}, "is not a job; jobs: "),
        ({"call": "os.system"}, "is unknown; known: "),
        ({"args": "{"}, "Args: must be a JSON object"),
        ({"args": "[1]"}, "Args: must be a JSON object"),
        ({"args": "[" * 100_000}, "Args: must be a JSON object"),
        ({"args": '{"valeu": 1}'}, "Args: do not fit echo"),
        ({"args": '{"value": [{"token": "•••"}]}'}, "••• stands for a masked value"),
        ({"priority": "11"}, "Priority: must be a whole number"),
        ({"priority": "9" * 5000}, "Priority: must be a whole number"),
        ({"queue": "none"}, "Queue: &#x27;none&#x27; is unknown"),
    ],
)
def test_a_fault_is_shown_beside_the_input_and_nothing_is_stored(admin, thing, wrong, told):
    TenantFactory(slug="other")
    answer = admin.post("/ops/jobs/submit", form(thing, **wrong))
    page = answer.content.decode()
    assert (answer.status_code, told in page) == (422, True)
    assert filled(page)["call"] == wrong.get("call", "sample.thing.echo")
    assert not Job.objects.exists()
    assert not Change.objects.exists()


def test_a_full_backlog_is_told(admin, thing):
    thing.tenant.jobs_queue.max_waiting = 0
    thing.tenant.jobs_queue.save()
    assert "The backlog is full" in admin.post("/ops/jobs/submit", form(thing)).content.decode()


def test_a_job_is_filled_in_without_what_is_masked(admin, operator, thing):
    args = {"value": 1, "password": "hunter2"}
    of = {"source_type": "sample.thing", "source_id": str(thing.pk), "source_method": "echo", "user_key": "ines"}
    job = make_job(thing.tenant, Status.SUCCESS, args=args, **of)
    page = admin.get(f"/ops/jobs/new/?like={job.pk}").content.decode()
    assert filled(page) == {"tenant": "acme", "call": "sample.thing.echo", "object": str(thing.pk), "user": "ines"}
    assert (DOTS in page, "hunter2" in page) == (True, False)
    assert f"/ops/jobs/new/?like={job.pk}" in admin.get(f"/ops/jobs/{job.pk}/").content.decode()
    # Who may not see jobs gets an empty form.
    assert filled(operator("add_job").get(f"/ops/jobs/new/?like={job.pk}").content.decode())["tenant"] == ""


@pytest.mark.parametrize("like", ["", "x", "0", "9" * 30, "²", "-1"])
def test_a_job_that_is_none_fills_in_nothing(admin, thing, like):
    answer = admin.get("/ops/jobs/new/", {"like": like})
    assert (answer.status_code, filled(answer.content.decode())["tenant"]) == (200, "")
