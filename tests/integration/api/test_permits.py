"""What a tenant may call over HTTP, and how far it may step away from what a method and its operators say."""

import dataclasses
import json

import pytest

from jobs import Retry, job
from jobs.models import Job, Queue
from reports.models import DataReport
from tenants.models import TenantQueue
from tests.factories import QueueFactory, ThingFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def post(report):
    def post(caller, **said):
        call = {"source_type": "reports.datareport", "source_id": report.pk, "source_method": "execute"} | said
        return caller.post("/api/v1/jobs", json.dumps(call), content_type="application/json")

    return post


@pytest.fixture
def said(monkeypatch):
    """What @job says of the method that is called."""

    def said(**options):
        spec = dataclasses.replace(DataReport.execute.job_spec, **options)
        monkeypatch.setattr(DataReport.execute, "job_spec", spec)

    return said


def refused(response, field, *words):
    assert response.status_code == 422, response.content
    [error] = response.json()["errors"]
    assert error["field"] == field
    assert all(word in error["message"] for word in words), error
    assert not Job.objects.exists()
    return True


def test_a_method_that_is_not_for_http_is_as_one_that_is_no_job(owner, mate, post, said, tenant):
    assert post(owner).status_code == 202
    Job.objects.all().delete()
    said(http=False)
    for caller in (owner, mate):
        assert refused(post(caller), "source_method", "'execute' is not a job; jobs: refresh_all")
    thing = ThingFactory(tenant=tenant)
    internal = {"source_type": "sample.thing", "source_id": thing.pk, "source_method": "echo"}
    assert refused(post(owner, **internal), "source_type", "'sample.thing' is unknown; known: reports.datareport")
    assert thing.async_.echo(), "code may call it all the same"


def test_another_queue_has_to_be_allowed_to_the_tenant(owner, stranger, post, tenant, foreign_report):
    QueueFactory(name="critical")
    assert refused(post(owner, queue="critical"), "queue", "allowed: reports")
    assert post(owner, queue="reports").status_code == 202, "the method's own"
    TenantQueue.objects.filter(tenant=tenant).update(queues=["critical"])
    assert post(owner, queue="critical", dedup=False).json()["queue"] == "critical"
    Job.objects.all().delete()
    assert refused(post(stranger, queue="critical", source_id=foreign_report.pk), "queue", "allowed: reports")


def test_a_paused_queue_cannot_be_stepped_around_in_bulk(owner, report):
    Queue.objects.filter(name="reports").update(paused=True)
    QueueFactory(name="default")
    call = {"source_type": "reports.datareport", "source_id": report.pk, "source_method": "execute", "queue": "default"}
    response = owner.post("/api/v1/jobs/bulk", {"jobs": [call]}, content_type="application/json")
    assert refused(response, "jobs[0].queue", "reports")


@pytest.mark.parametrize(
    ("spec", "most"),
    [
        ({"timeout": 120}, 120),
        ({"timeout": 120, "override": ["timeout"]}, 3600),
        ({"timeout": None}, 3600),
        ({"timeout": 7200}, 3600),
    ],
)
def test_a_timeout_goes_down_and_up_only_where_it_may(owner, post, said, spec, most):
    said(**spec)
    assert refused(post(owner, timeout=most + 1), "timeout", f"at most {most} ")
    assert refused(post(owner, timeout=31622400), "timeout", f"at most {most} ")
    assert post(owner, timeout=most).status_code == 202
    assert post(owner, timeout=1, dedup=False).status_code == 202
    assert set(Job.objects.values_list("timeout", flat=True)) == {most, 1}


@pytest.mark.parametrize(
    ("spec", "most"),
    [
        ({"retry": None}, 20),
        ({"retry": Retry.every(1, max_retries=3)}, 3),
        ({"retry": Retry.every(1, max_retries=3), "override": ["max_retries"]}, 20),
        ({"retry": Retry.every(1, max_retries=1000)}, 20),
    ],
)
def test_retries_go_down_and_up_only_where_they_may(owner, post, said, spec, most):
    said(**spec)
    assert refused(post(owner, max_retries=most + 1), "max_retries", f"at most {most} ")
    assert post(owner, max_retries=most).status_code == 202
    assert post(owner, max_retries=0, dedup=False).status_code == 202


def test_options_said_in_code_have_no_bounds(report):
    QueueFactory(name="critical")
    report.async_(queue="critical", timeout=50_000, max_retries=500).execute()
    stored = Job.objects.get()
    assert (stored.queue.name, stored.timeout, stored.max_retries) == ("critical", 50_000, 500)


@pytest.mark.parametrize("override", ["timeout", ["queue"], ["memory"]])
def test_only_what_can_be_overridden_can_be_named(override):
    with pytest.raises(TypeError, match="max_retries, timeout"):
        job(override=override)
