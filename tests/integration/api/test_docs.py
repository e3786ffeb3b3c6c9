"""The API's own page and its OpenAPI document."""

import json
import re

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from jobs.api import api
from tests.integration.api.conftest import validator_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def openapi():
    return Client().get("/api/v1/openapi.json").json()


def test_the_document_is_made_once_however_often_anybody_asks():
    """It takes most of a second of the web process, and needs no key."""
    assert api.get_openapi_schema() is api.get_openapi_schema()


@pytest.mark.parametrize(("page", "files"), [("docs", 2), ("docs/endpoints", 3)])
def test_a_page_of_the_api_needs_nothing_from_elsewhere(page, files):
    page = Client().get(f"/api/v1/{page}").content.decode()
    assert not re.search(r"""(?:src|href|url)\s*[=:]\s*["']?(?:https?:)?//""", page)
    found = re.findall(r"""(?:src|href)=["']/static/([^"']+)""", page)
    assert len(found) >= files
    assert all(finders.find(file) for file in found)
    assert ('<html lang="en">' in page, "Jobs API</title>" in page) == (True, True)


def test_where_nobody_finds_its_files_the_page_of_endpoints_is_ninjas_own(settings):
    """In a project of somebody else, without ninja among its apps."""
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": []}]
    page = Client().get("/api/v1/docs/endpoints").content.decode()
    assert "cdn.jsdelivr.net" in page
    assert "/api/v1/openapi.json" in page


def test_every_refusal_is_described_as_a_problem(openapi):
    for path, operations in openapi["paths"].items():
        for method, operation in operations.items():
            problems = {s: r for s, r in operation["responses"].items() if int(s) >= 400}
            assert {"401", "403"} <= set(problems), (method, path)
            for response in problems.values():
                assert list(response["content"]) == ["application/problem+json"]
    assert set(openapi["components"]["schemas"]["Problem"]["properties"]) >= {"title", "status", "errors"}


def test_the_common_answers_are_described_everywhere(openapi):
    for path, operations in openapi["paths"].items():
        for method, operation in operations.items():
            assert {"400", "429", "500", "503"} <= set(operation["responses"]), (method, path)
            for status in ("429", "503"):
                headers = operation["responses"][status]["headers"]
                assert headers["Retry-After"]["schema"] == {"type": "integer"}
            if "requestBody" in operation:
                assert {"408", "413", "415", "422"} <= set(operation["responses"]), (method, path)


def test_bounds_are_told_in_the_words_of_json_schema(openapi):
    """Pydantic's own word, such as `ge`, tells a client nothing."""
    told = set(re.findall(r'"(ge|gt|le|lt|max_length|min_length|minimum|maximum|maxLength)":', json.dumps(openapi)))
    assert told == {"minimum", "maximum", "maxLength"}
    submission = openapi["components"]["schemas"]["Submission"]  # of the pattern the page would make an example
    assert set(submission["example"]) < set(submission["properties"])
    assert submission["properties"]["queue"]["anyOf"][0].keys() > {"pattern", "examples"}


def test_every_body_has_a_whole_example_that_fits_it_and_every_summary_is_a_sentence(openapi):
    for path, operations in openapi["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"].lower().replace(" ", "_") != operation["operationId"], (method, path)
            assert operation["description"].startswith(operation["summary"])
            if "requestBody" not in operation:
                continue
            [name] = operation["requestBody"]["content"]["application/json"]["schema"].values()
            body = openapi["components"]["schemas"][name.rpartition("/")[2]]
            validator_of(openapi, name).validate(body["example"])
            # openapi-typescript would demand a property with a default of each caller.
            assert not [field for field, said in body["properties"].items() if "default" in said], name
    assert openapi["servers"][0]["url"] == "/", "relative to the document: its paths are whole"


def test_a_tenants_slots_are_described_as_they_are(openapi, owner):
    schemas = openapi["components"]["schemas"]
    told = owner.get("/api/v1/stats").json()["slots"]
    assert set(schemas["Slots"]["properties"]) == set(told)
    assert {"tenant", "num_slots"} <= set(schemas["TenantSlots"]["properties"])


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
        "add_to_batch",
        "add_webhook",
        "cancel_batch",
        "cancel_job",
        "change_schedule",
        "clear_memory",
        "close_batch",
        "create_schedule",
        "delete_schedule",
        "follow_batch",
        "follow_job",
        "list_batches",
        "list_changes",
        "list_jobs",
        "list_memories",
        "list_schedules",
        "list_webhooks",
        "make_batch",
        "pause_schedule",
        "preview_rule",
        "read_batch",
        "read_job",
        "read_memory",
        "read_reason",
        "read_result",
        "read_schedule",
        "read_stats",
        "read_usage",
        "remove_webhook",
        "replace_webhook_secret",
        "resume_schedule",
        "revive_batch",
        "revive_job",
        "run_schedule_now",
        "submit_job",
        "submit_jobs",
        "switch_webhook_off",
        "switch_webhook_on",
        "tell_event",
        "try_webhook_now",
    }
    names = [o["operationId"] for path in openapi["paths"].values() for o in path.values()]
    assert len(names) == len(set(names))


def test_the_operators_endpoints_are_described_as_theirs(openapi):
    for path, operations in openapi["paths"].items():
        ways = {"OperatorKey", "StaffSession"} if "/operator/" in path else {"TenantKey", "MemberSession"}
        for operation in operations.values():
            assert {name for way in operation["security"] for name in way} == ways
