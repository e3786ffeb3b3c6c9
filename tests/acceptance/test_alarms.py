"""Who watches the project's log, or Sentry, hears of failed jobs: in a worker as docs/own-project.md sets it up."""

import gzip
import json
import os
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from embedded import REPOSITORY
from jobs import async_
from jobs.models import Job, Worker
from tests.acceptance.following import ended
from tests.factories import TenantFactory, ThingFactory
from tests.pages import blocks
from tests.sample.tasks import complain
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = REPOSITORY / "docs" / "own-project.md"

SETTINGS = """
from tests.settings import *

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(levelname)s %(name)s %(message)s"}},
    "handlers": {"file": {"class": "logging.FileHandler", "filename": "FILE", "formatter": "plain"}},
    "root": {"handlers": ["file"], "level": "INFO"},
}
JOBS_MAX_CRASHES = 1
JOBS_TIMEOUT_GRACE = 0.5
"""


class Sentry(ThreadingHTTPServer):
    """A server to which the SDK sends its events."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Envelopes)
        self.events: list[dict] = []

    @property
    def dsn(self) -> str:
        return f"http://key@127.0.0.1:{self.server_port}/1"

    def of(self, job_id: int) -> list[dict]:
        return [event for event in self.events if event["tags"].get("job") == str(job_id)]


class _Envelopes(BaseHTTPRequestHandler):
    server: Sentry

    def do_POST(self) -> None:
        said = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            said = gzip.decompress(said)
        _, *items = [json.loads(line) for line in said.splitlines()]
        pairs = zip(items[::2], items[1::2], strict=True)
        self.server.events += [item for header, item in pairs if header["type"] == "event"]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def sentry() -> Iterator[Sentry]:
    with Sentry() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "project.log"


@pytest.fixture
def worker(environ, processes, tmp_path, sentry, log):
    """A worker of a project whose modules are those of the page; with Sentry's integrations as they come."""
    app, alarms, settings = [
        next(one.text for one in blocks(PAGE, "python", "py") if marked in one.text)
        for marked in ("configure(app)", "sentry_sdk.init(", "import mysite.alarms")
    ]
    package = tmp_path / "mysite"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "celery.py").write_text(app)
    (package / "alarms.py").write_text(alarms)
    (package / "settings.py").write_text(SETTINGS.replace("FILE", str(log)) + settings)
    environ |= {"DJANGO_SETTINGS_MODULE": "mysite.settings", "SENTRY_DSN": sentry.dsn}
    environ["PYTHONPATH"] = os.pathsep.join([str(tmp_path), str(REPOSITORY)])
    command = [sys.executable, "-m", "celery", "-A", "mysite", "worker", "-Q", "default", "-c", "1"]
    process = processes.start("worker", command, environ, log=tmp_path / "worker.log")
    wait_until(lambda: Worker.objects.filter(pid=process.pid).exists() or not process.alive, "the worker registers")
    assert process.alive, (tmp_path / "worker.log").read_text()


@pytest.mark.long("what Sentry and Celery make of the records; test_failures_in_the_log.py has the records themselves")
def test_each_failed_job_is_one_event_with_its_tags_and_one_record_of_the_projects_own_log(worker, sentry, log):
    tenant, neighbour = TenantFactory(), TenantFactory()
    thing, other = ThingFactory(tenant=tenant), ThingFactory(tenant=neighbour)
    complains = async_(complain, tenant=neighbour)(password="hunter2")
    refuses = thing.async_.refuse("no such region")
    wait_until(lambda: len(sentry.events) >= 2, "they are sent: what a killed process has still to send is lost")
    crashes = other.async_.kill_first(9)
    hangs = thing.async_(timeout=0.5).spin(stubborn=True)
    again = thing.async_.fail_first()
    gone = ThingFactory(tenant=tenant)
    vanishes = gone.async_(delay=0.1).echo("hunter2")
    gone.delete()
    jobs = [complains, refuses, crashes, hangs, again, vanishes]
    assert [ended(job).status for job in jobs] == ["success", "error", "dead", "error", "success", "error"]

    owners = dict(Job.objects.values_list("pk", "tenant_id"))
    told = {
        complains: [("complained", None)],
        refuses: [("job failed", "ValueError")],
        crashes: [("job failed", None)],
        hangs: [("job failed", "TimeoutError")],
        vanishes: [("job failed", "SourceGone")],
    }
    wait_until(lambda: len(sentry.events) >= len(told), "the events arrive")
    for job_id, expected in told.items():
        events = sentry.of(job_id)
        raised = [(one.get("exception") or {"values": [{"type": None}]})["values"][-1]["type"] for one in events]
        logged = [one["logentry"]["message"].removesuffix("%s") for one in events]
        assert list(zip(logged, raised, strict=True)) == expected
        assert {event["tags"]["tenant"] for event in events} == {str(owners[job_id])}
    assert len(sentry.events) == len(told)
    assert "hunter2" not in json.dumps(sentry.events)
    text = log.read_text()
    lines = [line.split(" error=")[0] for line in text.splitlines() if " jobs job failed" in line]
    failed = {refuses: "refuse", crashes: "kill_first", hangs: "spin", vanishes: "echo"}
    assert sorted(lines) == sorted(
        f"ERROR jobs job failed job={job_id} attempt=1 tenant={owners[job_id]} type=sample.thing.{method}"
        for job_id, method in failed.items()
    )
    assert text.count(f"WARNING jobs attempt failed job={again} attempt=1 ") == 1
    assert "ERROR of.the.author complained" in text
    assert "ValueError: no such region" in text
    assert "hunter2" not in text
