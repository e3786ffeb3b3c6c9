"""POST /api/v1/jobs: what becomes a job, whose it is, and when it is the one that was there."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from jobs import Undecided
from jobs.models import FailedAttempt, Job, Pool, Queue
from tenants.models import TenantQueue
from tests.factories import QueueFactory

pytestmark = pytest.mark.django_db


def call(report, **fields):
    return {"source_type": "reports.datareport", "source_id": report.pk, "source_method": "execute"} | fields


def submit(caller, body):
    return caller.post("/api/v1/jobs", body, content_type="application/json")


def test_a_submitted_job_is_accepted_and_can_be_followed(owner, tenant, report):
    response = submit(owner, call(report, args={"parameters": {"region": "EU"}}))
    assert response.status_code == 202
    submitted = response.json()
    assert submitted["deduplicated"] is False
    assert response["Location"] == f"/api/v1/jobs/{submitted['id']}"
    assert owner.get(response["Location"]).json()["id"] == submitted["id"]
    job = Job.objects.get()
    assert (job.tenant, job.source_type, job.source_id) == (tenant, "reports.datareport", str(report.pk))
    assert job.args == {"parameters": {"region": "EU"}}


def test_unsaid_options_come_from_the_method(owner, report):
    job = submit(owner, call(report)).json()
    assert (job["queue"], job["priority"], job["args"], job["user"]) == ("reports", 5, {}, "")
    assert (job["status"], job["attempt"], job["run_seconds"], job["result_url"]) == (
        "created",
        0,
        None,
        None,
    )
    assert job["wait_seconds"] >= 0


def test_every_option_reaches_the_job(owner, tenant, report):
    QueueFactory(name="critical")
    TenantQueue.objects.filter(tenant=tenant).update(queues=["critical"])
    options = {"queue": "critical", "priority": 0, "delay": 60, "user": "anna", "timeout": 7.5}
    response = submit(owner, call(report, **options))
    assert response.status_code == 202
    job = Job.objects.select_related("queue").get()
    assert (job.queue.name, job.priority, job.user_key, job.timeout) == ("critical", 0, "anna", 7.5)
    assert job.status == "scheduled"
    assert 55 < (job.due_at - job.created_at).total_seconds() < 65


def test_a_job_can_wait_for_its_moment(owner, report):
    response = submit(owner, call(report, at="2027-01-31T09:00:00+01:00"))
    assert response.json()["status"] == "scheduled"
    assert Job.objects.get().due_at == datetime(2027, 1, 31, 8, tzinfo=UTC)


def test_an_identical_submission_gets_the_same_job(owner, mate, report):
    first = submit(owner, call(report, args={"parameters": {"a": 1, "b": 2}}))
    second = submit(owner, call(report, args={"parameters": {"b": 2, "a": 1}}))
    third = submit(mate, call(report, args={"parameters": {"a": 1, "b": 2}}))
    assert [r.status_code for r in (first, second, third)] == [202, 200, 200]
    assert second.json()["deduplicated"] is True
    assert first.json()["id"] == second.json()["id"] == third.json()["id"]
    assert second["Location"] == first["Location"]
    assert Job.objects.count() == 1


def test_without_dedup_each_submission_is_a_job(owner, report):
    statuses = [submit(owner, call(report, dedup=False)).status_code for _ in range(3)]
    assert statuses == [202, 202, 202]
    assert Job.objects.count() == 3


def test_the_id_may_be_a_number_or_text(owner, report):
    as_number = submit(owner, call(report, source_id=report.pk)).json()
    as_text = submit(owner, call(report, source_id=str(report.pk))).json()
    assert as_number["id"] == as_text["id"]


def test_a_class_level_job_belongs_to_the_caller(owner, tenant, report):
    body = {"source_type": "reports.datareport", "source_method": "refresh_all"}
    assert submit(owner, body).status_code == 202
    job = Job.objects.get()
    assert (job.tenant, job.source_id) == (tenant, None)


def test_a_member_submits_for_nobody_but_the_logged_in_user(mate, report):
    job = submit(mate, call(report, user="the-boss")).json()
    assert job["user"] == str(mate.user.pk)


def test_a_full_backlog_is_answered_429_with_when_to_ask_again(owner, stranger, tenant, report, foreign_report):
    TenantQueue.objects.filter(tenant=tenant).update(max_waiting=1)
    first = submit(owner, call(report))
    refused = submit(owner, call(report, dedup=False))
    assert (refused.status_code, refused["Retry-After"]) == (429, "10")
    assert refused["Content-Type"] == "application/problem+json"
    assert refused.json() == {
        "type": "about:blank",
        "title": "Too Many Requests",
        "status": 429,
        "code": "backlog_full",
        "detail": "The backlog is full: at most 1 job may wait. Try again later.",
        "errors": [],
    }
    assert Job.objects.count() == 1
    assert submit(owner, call(report)).json()["id"] == first.json()["id"], "what is there can be asked for"
    assert submit(stranger, call(foreign_report)).status_code == 202, "it is no other tenant's backlog"


def test_a_plain_method_is_refused_at_the_queue_of_a_light_pool_to_everybody(owner, stranger, report, foreign_report):
    Pool.objects.create(name="mail", kind="light", seats=200)
    Queue.objects.filter(name="reports").update(pool="mail")
    for caller, theirs in ((owner, report), (stranger, foreign_report)):
        response = submit(caller, call(theirs))
        assert response.status_code == 422
        [error] = response.json()["errors"]
        assert error["field"] == "queue"
        assert error["message"].endswith(
            "make reports.datareport.execute `async def`, or let it use a queue of an ordinary pool, "
            "or of a light one with threads"
        )
    Pool.objects.update(kind="ordinary", seats=1)
    assert submit(owner, call(report)).status_code == 202


def test_where_it_cannot_be_decided_the_client_is_asked_to_come_again(owner, report, monkeypatch):
    def undecided(request):
        raise Undecided

    monkeypatch.setattr("jobs.portal.api.jobs.submit", undecided)
    response = submit(owner, call(report))
    assert (response.status_code, response["Retry-After"]) == (503, "1")
    assert "Submit this job again" in response.json()["detail"]


def test_the_job_of_another_tenant_is_not_taken_for_identical(owner, stranger, report, foreign_report):
    body = {"source_type": "reports.datareport", "source_method": "refresh_all"}
    mine, theirs = submit(owner, body), submit(stranger, body)
    assert (mine.status_code, theirs.status_code) == (202, 202)
    assert mine.json()["id"] != theirs.json()["id"]


def test_a_call_that_joins_a_job_which_waits_for_its_retry_is_answered_with_it_due_now(owner, report):
    job_id = report.async_.execute()
    later = timezone.now() + timedelta(hours=1)
    Job.objects.filter(pk=job_id).update(status="scheduled", ready_at=None, due_at=later, attempt=1, retries=1)
    failed = {"error_class": "ValueError", "error": "no", "end_time": timezone.now()}
    FailedAttempt.objects.create(job_id=job_id, attempt=1, **failed)
    call = {"source_type": "reports.datareport", "source_id": report.pk, "source_method": "execute", "priority": 0}
    told = owner.post("/api/v1/jobs", call, "application/json")
    assert (told.status_code, told.json()["id"], told.json()["deduplicated"]) == (200, job_id, True)
    assert (told.json()["status"], told.json()["priority"], told.json()["retries"]) == ("scheduled", 0, 0)
    assert datetime.fromisoformat(told.json()["due_at"]) < later
