"""DATABASE_URL names several hosts: everybody speaks to the one that takes changes."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

from jobs.models import Job
from tenants import auth
from tests.acceptance.asking import ask
from tests.factories import ThingFactory
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long("a URL of several hosts")]

SHOW = """
import django; django.setup()
from django.db import connections
for connection in connections.all():
    given = connection.get_connection_params()
    print(given["host"], given["port"], given["target_session_attrs"])
"""


def shown(**urls: str) -> list[str]:
    run = subprocess.run(
        [sys.executable, "-c", SHOW], env={**os.environ, **urls}, capture_output=True, text=True, check=True
    )
    return run.stdout.splitlines()


def test_a_url_may_name_several_hosts_with_one_port_or_one_each():
    django = {"DJANGO_SETTINGS_MODULE": "scheduler_project.settings"}
    one_port = shown(**django, DATABASE_URL="postgres://u:p@a,b:5433/jobs")
    assert one_port == ["a,b 5433 read-write"]
    one_each = shown(**django, DATABASE_URL="postgres://u:p@a:5432,b:5433/jobs?target_session_attrs=any")
    assert one_each == ["a,b 5432,5433 any"]
    direct = "postgres://u:p@a,b:5433/jobs"
    beside = shown(**django, DATABASE_URL="postgres://u:p@pooler:6432/jobs", DATABASE_DIRECT_URL=direct)
    assert beside[1] == "a,b 5433 read-write"


@pytest.fixture
def environ(environ):
    """The first of two hosts is dead; also for the session in which a web process dispatches."""
    url = urlsplit(environ["DATABASE_URL"])
    if "host=" in url.query:
        both = urlunsplit(url._replace(query=url.query.replace("host=", "host=%2Fnowhere%2C")))
    else:
        user, _, host = url.netloc.rpartition("@")
        both = urlunsplit(url._replace(netloc=f"{user}@127.0.0.1:1,{host}"))
    return {**environ, "DATABASE_URL": both, "TELL_OVER_HTTP": "1"}


def test_requests_dispatches_and_the_clock_find_the_one_that_lives(start_worker, environ, request, tmp_path):
    start_worker()
    environ["DATABASE_DIRECT_URL"] = environ["DATABASE_URL"]  # of a web process
    web = request.getfixturevalue("web")
    thing = ThingFactory()
    _, token = auth.issue(thing.tenant, "test")
    call = {"source_type": "sample.thing", "source_id": str(thing.pk), "source_method": "tell"}
    status, said = ask(f"{web.url}/api/v1/jobs", token, call)
    assert status // 100 == 2, said
    wait_until(lambda: Job.objects.filter(status="success").exists(), "the job ends")
    [log] = map(Path.read_text, tmp_path.glob("default*.log"))
    assert "this clock leads" in log
    assert "without database" not in log
    assert "dispatch failed" not in (tmp_path / "web.log").read_text()
