"""The API's own page and its OpenAPI document."""

import re

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.fixture
def openapi():
    return Client().get("/api/v1/openapi.json").json()


def test_the_docs_page_needs_nothing_from_elsewhere():
    page = Client().get("/api/v1/docs").content.decode()
    assert not re.search(r"""(?:src|href|url)\s*[=:]\s*["']?(?:https?:)?//""", page)
    files = re.findall(r"""(?:src|href)=["']/static/([^"']+)""", page)
    assert len(files) >= 3
    assert all(finders.find(file) for file in files)


def test_every_refusal_is_described_as_a_problem(openapi):
    for path, operations in openapi["paths"].items():
        for method, operation in operations.items():
            problems = {s: r for s, r in operation["responses"].items() if int(s) >= 400}
            assert {"401", "403"} <= set(problems), (method, path)
            for response in problems.values():
                assert list(response["content"]) == ["application/problem+json"]
    assert set(openapi["components"]["schemas"]["Problem"]["properties"]) >= {"title", "status", "errors"}


def test_a_full_backlog_is_described_where_jobs_are_submitted(openapi):
    full = {
        operation["operationId"]: operation["responses"]["429"]["headers"]
        for operations in openapi["paths"].values()
        for operation in operations.values()
        if "429" in operation["responses"]
    }
    assert set(full) == {"submit_job", "submit_jobs", "revive_job"}
    assert all(headers["Retry-After"]["schema"] == {"type": "integer"} for headers in full.values())


def test_both_ways_to_come_in_are_described(openapi):
    schemes = openapi["components"]["securitySchemes"]
    assert {(s["type"], s.get("scheme"), s.get("in")) for s in schemes.values()} == {
        ("http", "bearer", None),
        ("apiKey", None, "cookie"),
    }


def test_every_operation_has_a_name_of_its_own(openapi):
    tenants = {
        operation["operationId"]
        for path, operations in openapi["paths"].items()
        for operation in operations.values()
        if "/operator/" not in path
    }
    assert tenants == {
        "cancel_job",
        "list_jobs",
        "read_job",
        "read_result",
        "read_stats",
        "revive_job",
        "submit_job",
        "submit_jobs",
    }
    names = [o["operationId"] for path in openapi["paths"].values() for o in path.values()]
    assert len(names) == len(set(names))


def test_what_is_the_operators_is_described_as_theirs(openapi):
    for path, operations in openapi["paths"].items():
        ways = {"OperatorKey", "StaffSession"} if "/operator/" in path else {"TenantKey", "MemberSession"}
        for operation in operations.values():
            assert {name for way in operation["security"] for name in way} == ways
