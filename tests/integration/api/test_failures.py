"""No input makes a 5xx; and what fails on our side is a problem document too, and says when to ask again."""

import json
from datetime import UTC, datetime

import psycopg
import pytest
from django.db import connection
from django.test import Client

from jobs.console.operations import verbs
from jobs.lifecycle import Status
from jobs.models import Job
from jobs.reading import queries
from tests.callers import browser_of, superuser
from tests.factories import make_job

pytestmark = pytest.mark.django_db
PROBLEM, PAGE = "application/problem+json", "text/html; charset=utf-8"
ODD_ZONES = ["2027-01-01T00:00:00+16:00", "2027-01-01T00:00:00-16:23", "2027-01-01T00:00:00+01:00:30.5"]


@pytest.mark.parametrize("path", ["/api/v1/jobs", "/api/v1/jobs/bulk"])
@pytest.mark.parametrize("at", ODD_ZONES)
def test_a_zone_that_only_python_knows_is_the_same_moment(owner, report, path, at):
    call = {"source_type": "reports.datareport", "source_id": report.pk, "source_method": "execute", "at": at}
    body = {"jobs": [call]} if path.endswith("bulk") else call
    assert owner.post(path, body, content_type="application/json").status_code == 202
    assert Job.objects.get().due_at == datetime.fromisoformat(at)


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"])
def test_a_moment_outside_the_calendar_is_refused(owner, report, at):
    call = {"source_type": "reports.datareport", "source_id": report.pk, "source_method": "execute", "at": at}
    response = owner.post("/api/v1/jobs", call, content_type="application/json")
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "at")


@pytest.fixture
def operator():
    return browser_of(superuser())


ODD_MOMENTS = [*ODD_ZONES, "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00Z"]


def test_a_filter_of_odd_moments_is_answered(operator, subtests):
    dead = "/api/v1/operator/dead"
    for moment in ODD_MOMENTS:
        with subtests.test(moment):
            assert operator.get(dead, {"after": f"{moment}_1"}).status_code in (200, 422)
            for name in ("died_after", "died_before"):
                said = {name: moment}
                assert operator.get(dead, said).status_code in (200, 422)
                for path in (f"{dead}/revive", f"{dead}/discard"):
                    assert operator.post(path, said, content_type="application/json").status_code in (200, 422)


@pytest.mark.parametrize("name", ["re%00ports", "%00"])
def test_a_name_with_nul_is_the_name_of_nothing(operator, name, report):
    queue = f"/api/v1/operator/queues/{name}"
    assert operator.patch(queue, {"paused": True}, content_type="application/json").status_code == 404
    assert operator.get(f"/api/v1/operator/tenants/{name}").status_code == 404


LONG = "9" * 4301


def test_a_number_of_very_many_digits_is_no_job(owner, mate, operator, report, tenant):
    assert mate.get(f"/reports/{report.pk}/?job={LONG}").status_code == 200
    assert operator.get(f"/ops/jobs/?q={LONG}").status_code == 200
    assert owner.get(f"/api/v1/jobs/{LONG}").status_code == 422


def test_a_query_with_nul_is_refused(operator, subtests):
    for path in (
        "/admin/autocomplete/?term=%00&app_label=tenants&model_name=tenantqueue&field_name=tenant",
        "/ops/jobs/?q=%00",
        "/admin/jobs/queue/?pool__exact=%00",
        "/?next=%00",
    ):
        with subtests.test(path=path):
            assert operator.get(path).status_code == 400


def test_a_strangers_cookie_that_cannot_be_read_is_refused():
    """With U+0000 the session would be looked up, and each request leave a traceback in the log; very many backslashes
    take some versions of Python a minute.
    """
    for path, kind in (("/api/v1/jobs", PROBLEM), ("/jobs/", PAGE), ("/ops/", PAGE)):
        for cookie, status in ((r'sessionid="\000aaaaaaaa"', 400), ('a="' + "\\" * 60_000 + '"', 431)):
            refused = Client().get(path, headers={"Cookie": cookie})
            assert (refused.status_code, refused["Content-Type"]) == (status, kind)


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/v1", "/api/v1/", "/api/v2/", "/api/nothing"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_every_address_under_the_api_answers_with_problems(method, path):
    response = Client(enforce_csrf_checks=True).generic(method, path)
    assert (response.status_code, response["Content-Type"]) == (404, PROBLEM)


def test_a_foreign_host_is_a_problem_under_the_api(settings):
    settings.ALLOWED_HOSTS = ["localhost"]
    for path, kind in (("/api/v1/jobs", PROBLEM), ("/", PAGE)):
        response = Client(headers={"Host": "evil"}).get(path)
        assert (response.status_code, response["Content-Type"]) == (400, kind)
    assert "Nothing was changed." in response.content.decode()
    strict = Client(enforce_csrf_checks=True, headers={"Host": "localhost"})
    assert "This page was too old" in strict.post("/accounts/login/").content.decode()


@pytest.fixture
def quiet(owner):
    owner.raise_request_exception = False
    return owner


def test_a_fault_of_ours_is_a_problem_too(quiet, tenant, monkeypatch):
    def fail(*_):
        raise RuntimeError("a text for the log alone")

    monkeypatch.setattr(queries, "job", fail)
    response = quiet.get(f"/api/v1/jobs/{make_job(tenant).pk}")
    assert (response.status_code, response["Content-Type"]) == (500, PROBLEM)
    assert "alone" not in response.content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_locked_table_is_a_503_that_says_when_to_ask_again(quiet, report, mate, operator, monkeypatch):
    """And that some of it may be done: of many jobs each batch is a transaction."""
    monkeypatch.setattr(verbs, "BATCH", 1)
    first, second = (make_job(report.tenant, Status.DEAD) for _ in range(2))
    operator.raise_request_exception = False
    call = {"source_type": "reports.datareport", "source_id": report.pk, "source_method": "execute"}
    with psycopg.connect(**connection.get_connection_params()) as other, connection.cursor() as ours:
        ours.execute("SET lock_timeout = '50ms'")
        other.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [second.pk])
        try:
            ids = {"ids": [first.pk, second.pk]}
            half = operator.post("/api/v1/operator/dead/revive", ids, content_type="application/json")
            other.execute("LOCK TABLE jobs, data_reports")
            response = quiet.post("/api/v1/jobs", call, content_type="application/json")
            mate.raise_request_exception = False
            page = mate.get("/")
        finally:
            ours.execute("RESET lock_timeout")
    assert (response.status_code, response["Content-Type"]) == (503, PROBLEM)
    assert int(response["Retry-After"]) >= 1
    first.refresh_from_db()
    assert (half.status_code, first.status) == (503, Status.CREATED)
    assert "Some of this request may be done; try again." in half.json()["detail"]
    assert (page.status_code, page["Retry-After"]) == (503, "5")
    assert "Not right now" in page.content.decode()
    assert quiet.post("/api/v1/jobs", json.dumps(call), content_type="application/json").status_code == 202


def test_moments_are_kept_in_utc(tenant, owner, report):
    call = {"source_type": "reports.datareport", "source_id": report.pk, "source_method": "execute"}
    told = owner.post("/api/v1/jobs", call | {"at": ODD_ZONES[0]}, content_type="application/json").json()
    assert datetime.fromisoformat(told["due_at"]) == datetime(2026, 12, 31, 8, tzinfo=UTC)
