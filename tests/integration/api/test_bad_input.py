"""Bad input gets a 4xx problem that names the field and what is allowed; and nothing is stored."""

import json

import pytest
from django.conf import settings
from django.test import Client

from jobs import job
from jobs.calls.arguments import stats_as_json
from jobs.calls.refusals import InvalidRequest
from jobs.http.codes import ProblemCode
from jobs.models import Job
from reports.models import DataReport
from tests.factories import TenantFactory
from tests.sql import value

pytestmark = pytest.mark.django_db


@pytest.fixture
def good(report):
    """A body that would be accepted."""
    return {"source_type": "reports.datareport", "source_id": report.pk, "source_method": "execute"}


def post(caller, body):
    text = body if isinstance(body, (str, bytes)) else json.dumps(body)
    return caller.generic("POST", "/api/v1/jobs", text, content_type="application/json")


def assert_problem(response, status, field, *words):
    """A problem document about that field, saying those words; and no job."""
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    problem = response.json()
    assert set(problem) == {"type", "title", "status", "code", "detail", "errors"}
    assert problem["status"] == status
    assert problem["code"] in {code for code in ProblemCode if code.status == status}
    assert [error["field"] for error in problem["errors"]] == [field]
    assert "Input should" not in problem["detail"], "our own words, not pydantic's"
    for word in words:
        assert word in problem["errors"][0]["message"], problem
    assert not Job.objects.exists()


def test_the_good_body_is_good(owner, good):
    assert post(owner, good).status_code == 202


@pytest.mark.parametrize("written", ["7.0", "0.7e1"])
def test_an_integer_is_one_however_json_writes_it(owner, good, written):
    assert post(owner, json.dumps(good | {"priority": 99}).replace("99", written)).status_code == 202
    assert Job.objects.get().priority == 7


UNFIT = [
    ({"source_type": "reports.nonsense"}, "source_type", ["reports.datareport"]),
    ({"source_type": "auth.user"}, "source_type", ["reports.datareport"]),
    ({"source_type": 7}, "source_type", ["string"]),
    ({"source_method": "delete"}, "source_method", ["execute"]),
    ({"source_method": "_meta"}, "source_method", ["execute"]),
    ({"source_method": ""}, "source_method", ["execute"]),
    ({"source_id": 10**6}, "source_id", ["1000000"]),
    ({"source_id": "x"}, "source_id", ["'x'"]),
    ({"source_id": 10**30}, "source_id", ["there is no"]),
    ({"source_id": None}, "source_id", ["give its id"]),
    ({"source_id": "1\x00"}, "source_id", ["U+0000"]),
    ({"queue": "nonsense"}, "queue", ["reports"]),
    ({"queue": "repo\x00rts"}, "queue", ["U+0000"]),
    *(({"expires": odd}, "expires", ["seconds", "zone"]) for odd in ("tomorrow", 0, True, [1])),
    ({"expires": "2030-01-01T00:00:00"}, "expires", ["zone"]),
    ({"priority": -1}, "priority", ["0"]),
    ({"priority": 11}, "priority", ["10"]),
    ({"priority": 2.5}, "priority", ["integer"]),
    ({"priority": "5"}, "priority", ["integer"]),
    ({"priority": True}, "priority", ["integer"]),
    ({"args": {"region": "EU"}}, "args", ["parameters"]),
    ({"args": {"self": 1}}, "args", ["parameters"]),
    ({"args": ["EU"]}, "args", ["JSON object"]),
    ({"args": None}, "args", ["JSON object"]),
    ({"args": {"parameters": "\x00"}}, "args.parameters", ["NUL"]),
    ({"args": {"parameters": "\ud800"}}, "args.parameters", ["surrogate"]),
    ({"at": "2020-01-01T00:00:00Z"}, "at", ["future"]),
    ({"at": "2030-01-01T00:00:00"}, "at", ["zone"]),
    ({"at": "2030-01-01"}, "at", ["zone"]),
    ({"at": "9999-12-31T23:59:59Z"}, "at", ["days"]),
    ({"at": "tomorrow"}, "at", ["zone"]),
    ({"at": 4102444800}, "at", ["zone"]),
    ({"at": "4102444800"}, "at", ["zone"]),
    ({"delay": 5, "at": "2030-01-01T00:00:00Z"}, "delay", ["at"]),
    ({"delay": -1}, "delay", ["0"]),
    ({"delay": "60"}, "delay", ["number"]),
    ({"delay": True}, "delay", ["number"]),
    ({"delay": 1e12}, "delay", ["31622400"]),
    ({"timeout": 0}, "timeout", ["0"]),
    ({"timeout": 1e12}, "timeout", ["at most 120"]),
    ({"max_retries": -1}, "max_retries", ["0"]),
    ({"max_retries": 10**7}, "max_retries", ["1000000"]),
    ({"max_retries": 2.5}, "max_retries", ["integer"]),
    ({"max_retries": "3"}, "max_retries", ["integer"]),
    ({"max_retries": True}, "max_retries", ["integer"]),
    ({"memory": 64}, "memory", ["unknown field", "max_retries"]),
    ({"user": "x" * 101}, "user", ["100"]),
    ({"user": "a\x00"}, "user", ["U+0000"]),
    ({"user": 5}, "user", ["string"]),
    ({"dedup": "yes"}, "dedup", ["boolean"]),
    ({"tenant": 1}, "tenant", ["unknown field", "source_type", "priority"]),
    ({"prioritty": 1}, "prioritty", ["unknown field", "priority"]),
]


def test_a_value_that_does_not_fit_is_refused_by_name(owner, good, subtests):
    for change, field, words in UNFIT:
        with subtests.test(str(change)[:40]):
            assert_problem(post(owner, good | change), 422, field, *words)


def test_arguments_that_the_dedup_key_of_the_method_cannot_take_are_named_without_its_text(owner, good, monkeypatch):
    def execute(self, *, parameters=None): ...

    monkeypatch.setattr(
        DataReport, "execute", job(http=True, queue="reports", dedup_key=lambda *, parameters: parameters[:7])(execute)
    )
    wrong = good | {"args": {"parameters": 202612}}
    assert_problem(post(owner, wrong), 422, "args", "the dedup_key of execute cannot take these: TypeError")
    bulk = owner.post("/api/v1/jobs/bulk", {"jobs": [good | {"args": {"parameters": "x"}}, wrong]}, "application/json")
    assert_problem(bulk, 422, "jobs[1].args", "TypeError")
    assert "subscriptable" not in bulk.content.decode()


@pytest.mark.parametrize("missing", ["source_type", "source_method"])
def test_a_missing_field_is_named(owner, good, missing):
    del good[missing]
    assert_problem(post(owner, good), 422, missing, "required")


def test_several_mistakes_are_told_at_once(owner, good):
    problem = post(owner, good | {"priority": 11, "delay": "soon"}).json()
    assert {error["field"] for error in problem["errors"]} == {"priority", "delay"}
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    "body",
    [
        "{",
        "nonsense",
        "{'single': 'quotes'}",
        b"\xff\xfe\xfa",
        "[" * 100_000,
        '{"priority": 1' + "0" * 5000 + "}",
    ],
    ids=["open", "word", "quotes", "bytes", "deep", "digits"],
)
def test_a_body_that_is_not_json_is_refused(owner, report, body):
    assert_problem(post(owner, body), 400, "body", "JSON")


@pytest.mark.parametrize("body", ["", "[]", "null", "5", '"text"'])
def test_a_body_that_is_not_an_object_is_refused(owner, report, body):
    assert_problem(post(owner, body), 422, "body")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_not_json_are_refused(owner, good, number):
    text = json.dumps(good | {"args": {"parameters": "HERE"}}).replace('"HERE"', number)
    response = post(owner, text)
    assert response.status_code in (400, 422)
    assert response["Content-Type"] == "application/problem+json"
    assert not Job.objects.exists()


def test_args_up_to_the_limit_are_taken_and_one_byte_more_is_not(owner, good):
    limit = settings.JOBS_ARGS_MAX_BYTES
    room = limit - len(json.dumps({"parameters": ""}))
    assert_problem(post(owner, good | {"args": {"parameters": "x" * (room + 1)}}), 413, "args", str(limit))
    assert post(owner, good | {"args": {"parameters": "x" * room}}).status_code == 202


def test_numbers_count_as_postgresql_writes_them(owner, good, settings, subtests):
    for number in (1e308, -1.5e-300, 1e16, 1e-7, 123456789.125, 0.0001, "1e+308"):
        with subtests.test(repr(number)):
            args = {"parameters": {"of": [number, {"n": [number]}]}}
            Job.objects.all().delete()
            written = value("SELECT octet_length(%s::jsonb::text)", [json.dumps(args)])
            settings.JOBS_ARGS_MAX_BYTES = written - 1
            assert_problem(post(owner, good | {"args": args}), 413, "args", f"take {written} bytes")
            settings.JOBS_ARGS_MAX_BYTES = written
            assert post(owner, good | {"args": args}).status_code == 202
            settings.JOBS_STATS_MAX_BYTES = written - 1
            with pytest.raises(InvalidRequest, match="stats: take"):
                stats_as_json(args)
            settings.JOBS_STATS_MAX_BYTES = written
            assert stats_as_json(args) == args


def test_a_huge_body_is_not_even_read(owner, good):
    text = json.dumps(good) + " " * settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    assert_problem(post(owner, text), 413, "body", str(settings.DATA_UPLOAD_MAX_MEMORY_SIZE))


@pytest.mark.parametrize("authorization", [None, "Bearer ", "Bearer wrong", "Basic YTpi", "Bearer é", "Token"])
def test_a_missing_or_wrong_key_is_refused(good, authorization):
    caller = Client(headers={"Authorization": authorization} if authorization else {})
    response = post(caller, good)
    assert_problem(response, 401, "Authorization", "Bearer <key>")
    assert response["WWW-Authenticate"].startswith("Bearer")


def test_a_source_of_another_tenant_is_answered_as_one_that_does_not_exist(owner, good, foreign_report):
    foreign = good | {"source_id": foreign_report.pk}
    response = post(owner, foreign)
    assert_problem(response, 422, "source_id", "there is no")
    foreign_report.delete()
    assert post(owner, foreign).content == response.content


def test_another_tenants_bad_input_reveals_no_queue_or_type_of_its_own(stranger, owner, good, report):
    """The lists of what is allowed are the same for everybody."""
    TenantFactory()
    for change in ({"source_type": "x"}, {"queue": "x"}):
        body = {"source_type": "reports.datareport", "source_method": "refresh_all"} | change
        assert post(stranger, body).content == post(owner, body).content


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=many", "limit"),
        ("before=0", "before"),
        ("before=x", "before"),
        ("status=sleeping", "status"),
        ("source_type=%00", "source_type"),
        ("source_id=%00", "source_id"),
    ],
)
def test_an_unfit_filter_is_named(owner, query, field):
    assert_problem(owner.get(f"/api/v1/jobs?{query}"), 422, field)


@pytest.mark.parametrize("query", ["wait=31", "wait=-1", "wait=long", "wait=nan", "wait=1_0", "wait=1&seen=asleep"])
def test_an_unfit_wait_is_named(owner, query):
    assert_problem(owner.get(f"/api/v1/jobs/1?{query}"), 422, "seen" if "seen" in query else "wait")


def test_an_id_that_is_no_number_is_named(owner):
    assert_problem(owner.get("/api/v1/jobs/abc"), 422, "job_id", "integer")
