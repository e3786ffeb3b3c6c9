"""POST /api/v1/jobs/bulk: many submissions, all of them or none, each told what became of it."""

import json

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from jobs.http.inputs import MOST_AT_ONCE
from jobs.models import Job
from tenants.models import TenantQueue

pytestmark = pytest.mark.django_db


def call(report, **fields):
    return {"source_type": "reports.datareport", "source_id": report.pk, "source_method": "execute"} | fields


def region(report, name, **fields):
    return call(report, args={"parameters": {"region": name}}, **fields)


def submit(caller, *jobs, **fields):
    return caller.post("/api/v1/jobs/bulk", json.dumps({"jobs": jobs} | fields), content_type="application/json")


def assert_refused(response, status, field, *words):
    """A problem document about that field, saying those words; and no job."""
    assert (response.status_code, response["Content-Type"]) == (status, "application/problem+json"), response.content
    problem = response.json()
    assert [error["field"] for error in problem["errors"]] == [field]
    for word in words:
        assert word in problem["errors"][0]["message"], problem
    assert not Job.objects.exists()


def test_each_becomes_a_job_and_they_are_told_in_order(owner, tenant, report):
    names = ["EU", "US", "APAC"]
    response = submit(owner, *(region(report, name, priority=n) for n, name in enumerate(names)))
    assert response.status_code == 202
    told = response.json()["jobs"]
    jobs = [Job.objects.get(pk=one["id"]) for one in told]
    assert [job.args["parameters"]["region"] for job in jobs] == names
    assert [(job.priority, job.tenant) for job in jobs] == [(n, tenant) for n in range(3)]
    for one in told:
        url = f"/api/v1/jobs/{one['id']}"
        assert one == {"id": one["id"], "status": "created", "deduplicated": False, "url": url}
        assert owner.get(one["url"]).json()["id"] == one["id"]


def test_many_submissions_are_stored_in_one_statement(owner, report):
    with CaptureQueriesContext(connection) as queries:
        assert submit(owner, *(region(report, n) for n in range(50))).status_code == 202
    assert len([query for query in queries if "INSERT INTO jobs " in query["sql"]]) == 1
    assert Job.objects.count() == 50


def test_identical_calls_are_the_same_job(owner, report):
    there = submit(owner, region(report, "EU", delay=60)).json()["jobs"][0]
    told = submit(
        owner, region(report, "US"), region(report, "EU", delay=60), region(report, "US"), region(report, "APAC")
    ).json()["jobs"]
    assert [one["deduplicated"] for one in told] == [False, True, True, False]
    assert told[1] == there | {"deduplicated": True, "status": "scheduled"}
    assert told[2]["id"] == told[0]["id"]
    assert Job.objects.count() == 3


def test_without_dedup_identical_ones_are_jobs_of_their_own(owner, report):
    told = submit(owner, *[call(report, dedup=False)] * 3).json()["jobs"]
    assert len({one["id"] for one in told}) == 3


def test_a_member_submits_for_nobody_but_the_logged_in_user(mate, report):
    assert submit(mate, call(report, user="the-boss")).status_code == 202
    assert Job.objects.get().user_key == str(mate.user.pk)


@pytest.mark.django_db(transaction=True)
def test_the_submitted_jobs_start_at_once_with_one_dispatch(owner, report, register, sent):
    register()
    told = submit(owner, *(region(report, n) for n in range(3))).json()["jobs"]
    assert [message.id for message in sent] == [one["id"] for one in told[:2]], "the tenant has two slots"
    assert {one["status"] for one in told} == {"created"}, "as they were stored"


class TestRefused:
    @pytest.mark.parametrize(
        ("change", "field", "words"),
        [
            ({"priority": 11}, "priority", ["10"]),
            ({"delay": "soon"}, "delay", ["number"]),
            ({"prioritty": 1}, "prioritty", ["unknown field", "source_type", "priority"]),
            ({"source_method": "delete"}, "source_method", ["execute"]),
            ({"source_id": 10**6}, "source_id", ["there is no"]),
            ({"args": {"region": "EU"}}, "args", ["parameters"]),
            ({"args": {"parameters": [0, "\x00"]}}, "args.parameters[1]", ["NUL"]),
            ({"args": {"parameters": "x" * (settings.JOBS_ARGS_MAX_BYTES + 1)}}, "args", ["KiB"]),
            ({"queue": "nonsense"}, "queue", ["'nonsense'", "reports"]),
            ({"at": "2020-01-01T00:00:00Z"}, "at", ["future"]),
            ({"user": "x" * 101}, "user", ["100"]),
        ],
        ids=lambda value: str(value)[:40],
    )
    def test_one_bad_among_good_ones_is_named_and_nothing_is_stored(self, owner, report, change, field, words):
        jobs = [region(report, n) for n in range(5)]
        jobs[3] |= change
        status = 413 if words == ["KiB"] else 422
        assert_refused(submit(owner, *jobs), status, f"jobs[3].{field}", *words)

    def test_the_first_that_does_not_fit_is_told_whole_and_none_after_it(self, owner, report):
        response = submit(owner, call(report), {}, call(report, priority=11), 5)
        assert [error["field"] for error in response.json()["errors"]] == [
            "jobs[1].source_type",
            "jobs[1].source_method",
        ]

    def test_no_jobs_at_all(self, owner):
        assert_refused(submit(owner), 422, "jobs", "at least 1")

    def test_more_than_there_may_be(self, owner, report):
        jobs = [call(report, dedup=False)] * (MOST_AT_ONCE + 1)
        assert_refused(submit(owner, *jobs), 422, "jobs", str(MOST_AT_ONCE))
        assert submit(owner, *jobs[1:]).status_code == 202
        assert Job.objects.count() == MOST_AT_ONCE

    @pytest.mark.parametrize("body", ["[]", "5", '{"jobs": {}}', '{"jobs": null}', "{}"])
    def test_a_body_that_is_no_batch_is_refused(self, owner, body):
        response = owner.generic("POST", "/api/v1/jobs/bulk", body, content_type="application/json")
        assert_refused(response, 422, "jobs" if "jobs" in body or body == "{}" else "body")

    def test_an_unknown_field_beside_the_jobs(self, owner, report):
        assert_refused(submit(owner, call(report), priority=3), 422, "priority", "unknown field; allowed: jobs")

    def test_a_batch_for_which_there_is_no_room(self, owner, tenant, report):
        TenantQueue.objects.filter(tenant=tenant).update(max_waiting=2)
        response = submit(owner, *(region(report, n) for n in range(3)))
        assert (response.status_code, response["Retry-After"]) == (429, "10")
        assert not Job.objects.exists()

    def test_a_stranger_submits_nothing_of_it_and_learns_nothing(self, stranger, report, foreign_report):
        response = submit(stranger, call(foreign_report), call(report))
        assert_refused(response, 422, "jobs[1].source_id", "there is no")
        body = (call(foreign_report), call(report))
        report.delete()
        assert submit(stranger, *body).content == response.content

    def test_a_missing_key(self, report):
        assert_refused(submit(Client(), call(report)), 401, "Authorization")

    def test_another_method(self, owner):
        response = owner.get("/api/v1/jobs/bulk")
        assert (response.status_code, response["Allow"]) == (405, "POST")
