"""A request has an id: it comes back with the answer, and is in every log line of the request."""

import logging
import re

import pytest
from django.test import Client
from django.urls import path

from jobs import telemetry
from jobs.models import Job
from reports.models import DataReport

pytestmark = pytest.mark.django_db


@pytest.fixture
def lines(caplog, monkeypatch):
    """The facts of each line of the scheduler's log, as a formatter would write them."""
    caplog.set_level("INFO", "jobs")
    found = []

    class Keep(logging.Handler):
        def emit(self, record):
            facts = {"event": getattr(record, "event", None), **telemetry.known(), **getattr(record, "facts", {})}
            found.append(facts)

    keep = Keep()
    logging.getLogger("jobs").addHandler(keep)
    yield found
    logging.getLogger("jobs").removeHandler(keep)


@pytest.mark.parametrize("sane", ["7f3a", "1d1f2e4e-8a7c-4f6c-9a55-0f2b6d3f1c11", "a.b_C-9", "x" * 100])
def test_a_sane_id_is_taken_and_returned(owner, sane):
    assert owner.get("/api/v1/jobs", headers={"X-Request-ID": sane})["X-Request-ID"] == sane


@pytest.mark.parametrize("odd", ["", "a b", "a\u2028b", "job=1", "x" * 101, "ä", "a\tb"])
def test_another_id_is_replaced(owner, odd, lines):
    answer = owner.get("/api/v1/jobs", headers={"X-Request-ID": odd})["X-Request-ID"]
    assert re.fullmatch("[0-9a-f]{32}", answer)
    assert lines[-1]["request"] == answer


def test_each_request_without_one_gets_another(owner):
    assert len({owner.get("/api/v1/jobs")["X-Request-ID"] for _ in range(5)}) == 5


def test_errors_and_pages_have_one_too(stranger, mate):
    for client, address in [(Client(), "/api/v1/jobs"), (stranger, "/api/v1/jobs/7"), (mate, "/"), (mate, "/nowhere")]:
        assert client.get(address, headers={"X-Request-ID": "r1"})["X-Request-ID"] == "r1"


def fail(request):
    raise RuntimeError("on purpose")


urlpatterns = [path("fail", fail)]
handler500 = "scheduler_project.errors.failed"


def test_the_line_of_an_error_has_the_id(settings, lines, caplog):
    settings.ROOT_URLCONF = __name__
    settings.DEBUG_PROPAGATE_EXCEPTIONS = False
    about = []
    caplog.handler.addFilter(lambda record: about.append((record.name, telemetry.known().get("request"))) or True)
    client = Client(raise_request_exception=False)
    response = client.get("/fail", headers={"X-Request-ID": "r1"})
    assert response["X-Request-ID"] == "r1"
    assert "The fault is ours" in response.content.decode()
    assert ("django.request", "r1") in about
    assert lines[-1].items() >= {"event": "answered", "request": "r1", "status": 500, "path": "/fail"}.items()


def test_from_the_id_of_a_request_to_the_job_that_it_submitted(
    owner, tenant, report: DataReport, lines, django_capture_on_commit_callbacks
):
    said = {"source_type": "reports.datareport", "source_id": str(report.pk), "source_method": "execute"}
    with django_capture_on_commit_callbacks(execute=True):
        owner.post("/api/v1/jobs", said, content_type="application/json", headers={"X-Request-ID": "r1"})
    job = Job.objects.get()
    submitted = [line for line in lines if line["event"] == "submit"]
    assert [(line["job"], line["tenant"]) for line in submitted] == [(job.pk, tenant.pk)]


def test_the_answers_line_names_the_caller_and_no_query(owner, tenant, lines):
    owner.get("/api/v1/jobs?status=running&x=y%0Az", headers={"X-Request-ID": "r1"})
    [line] = lines
    assert line.items() >= {"event": "answered", "method": "GET", "path": "/api/v1/jobs", "tenant": tenant.pk}.items()
    assert "running" not in str(line)


def test_a_path_with_a_line_break_forges_no_line(lines):
    Client().get("/a%0Ab%20c%E2%80%A8d")
    assert lines[-1]["path"] == "/a%0Ab%20c%E2%80%A8d"


def test_a_health_check_leaves_no_line(lines):
    assert "X-Request-ID" not in Client().get("/healthz")
    assert lines == []
