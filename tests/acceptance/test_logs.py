"""One log of web and worker: each line is an object, and the id of a request leads to every line of its job."""

import json
import os
import urllib.request
from pathlib import Path

import pytest

from jobs.models import Job
from tenants import auth
from tests.factories import TenantFactory, ThingFactory
from tests.waiting import wait_until

LONG = pytest.mark.long("a trace that ends at a process; tests/integration/project/test_traces.py has its parts")

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def environ(environ):
    return environ | {"LOG_FORMAT": "json", "TELL_OVER_HTTP": "1"}


def lines_of(log: Path) -> list[dict]:
    """The lines of a process, each of them an object."""
    text = log.read_text()
    assert "Traceback" not in text
    return [json.loads(line) for line in text.splitlines()]


def post(url: str, token: str, said: dict, request_id: str) -> dict:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "X-Request-ID": request_id}
    asked = urllib.request.Request(url, json.dumps(said).encode(), headers)
    with urllib.request.urlopen(asked, timeout=30) as response:
        assert response.headers["X-Request-ID"] == request_id
        return json.load(response)


def submitted(web, tenant) -> int:
    """A job of this tenant, by the request r-1."""
    _, token = auth.issue(tenant, "test")
    said = {"source_type": "sample.thing", "source_id": str(ThingFactory(tenant=tenant).pk), "source_method": "tell"}
    return post(f"{web.url}/api/v1/jobs", token, said, "r-1")["id"]


@pytest.fixture
def traced(environ):
    environ |= {"TRACES": "console"}


@LONG
def test_a_trace_goes_from_the_web_process_into_the_workers(traced, start_worker, web, tmp_path):
    start_worker(concurrency=1)
    job = submitted(web, TenantFactory())
    log = tmp_path / f"default1-{os.getpid()}.log"
    wait_until(lambda: '"execute sample.thing.tell"' in log.read_text(), "its span is written")

    [request] = [line for line in lines_of(tmp_path / "web.log") if line.get("name") == "HTTP POST"]
    spans = [line for line in lines_of(log) if "context" in line]
    assert [span["name"] for span in spans] == ["wait", "execute sample.thing.tell"]
    assert {span["context"]["trace_id"] for span in spans} == {request["context"]["trace_id"]}
    assert {span["parent_id"] for span in spans} == {request["context"]["span_id"]}
    assert {span["attributes"]["scheduler.job"] for span in spans} == {job}
    [half_way] = [line for line in lines_of(log) if line.get("event") == "half-way"]
    assert half_way["trace"] == request["context"]["trace_id"].removeprefix("0x")


def test_from_a_request_to_the_lines_of_its_job_and_of_its_code(start_worker, web, tmp_path):
    tenant = TenantFactory()
    start_worker(concurrency=1)
    job = submitted(web, tenant)
    wait_until(lambda: Job.objects.filter(pk=job, status="success").exists(), "the job ends")

    of_request = [line for line in lines_of(tmp_path / "web.log") if line.get("request") == "r-1"]
    assert [(line["event"], line["tenant"]) for line in of_request] == [
        ("submit", tenant.pk),
        ("answered", tenant.pk),
    ]
    assert of_request[0]["job"] == job

    log = tmp_path / f"default1-{os.getpid()}.log"
    wait_until(lambda: '"succeed"' in log.read_text(), "its last line is written")
    of_job = [line for line in lines_of(log) if line.get("job") == job]
    assert {line["tenant"] for line in of_job} == {tenant.pk}
    assert {line["attempt"] for line in of_job} == {1}
    events = [line["event"] for line in of_job if line["event"] != "claim"]  # by whichever process was first
    assert events == ["start", "half-way", "said aloud", "succeed"]
