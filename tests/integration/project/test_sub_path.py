"""The site under a path of a host that it shares (FORCE_SCRIPT_NAME): every rule by address holds there, too."""

import asyncio
import json
import os
import subprocess
import sys

import pytest

from embedded import REPOSITORY
from tests.asgi import Client, two_threads

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(params=["/scheduler", ""], ids=["passed on", "removed by the proxy"])
def ask(request, settings):
    settings.FORCE_SCRIPT_NAME = "/scheduler"
    with two_threads() as handler:

        def ask(path: str, **headers: str) -> tuple[Client, str]:
            async def answer() -> tuple[Client, str]:
                client = Client(handler, request.param + path, **headers)
                return client, await client.answer()

            return asyncio.run(answer())

        yield ask


def test_health_is_told(ask):
    assert ask("/healthz")[1] == "alive\n"
    assert ask("/readyz")[1] == "ready\n"


def test_pages_may_load_what_they_may_elsewhere(ask):
    policies = {path: ask(path)[0].headers["Content-Security-Policy"] for path in ("/ops/", "/admin/", "/api/v1/docs")}
    assert "default-src 'none'" in policies["/ops/"]
    assert "'unsafe-inline'" in policies["/admin/"]
    assert "unsafe" not in policies["/api/v1/docs"]


def test_the_api_answers_its_errors_as_problems(ask):
    client, said = ask("/api/v1/jobs", Host="elsewhere.example.com")
    assert (client.status, json.loads(said)["status"]) == (400, 400)
    client, said = ask("/api/v1/jobs", **{"Content-Length": "99999999"})
    assert (client.status, json.loads(said)["status"]) == (413, 413)
    client, said = ask("/jobs/", **{"Content-Length": "99999999"})
    assert (client.status, 'href="/scheduler/"' in said) == (413, True), "a page, with a link"


def test_links_lead_back_under_it(ask):
    assert ask("/ops/")[0].headers["Location"] == "/scheduler/accounts/login/?next=/scheduler/ops/"
    said = ask("/api/v1/openapi.json")[1]
    assert all(path.startswith("/scheduler/api/v1/") for path in json.loads(said)["paths"])


def test_files_cookies_and_the_way_out_of_the_admin_are_under_it():
    names = "STATIC_URL", "SESSION_COOKIE_PATH", "CSRF_COOKIE_PATH"
    code = f"from scheduler_project import settings as s; print(*map(vars(s).get, {names}), s.UNFOLD['SITE_URL'])"
    environ = {**os.environ, "FORCE_SCRIPT_NAME": "/scheduler"}
    told = subprocess.check_output([sys.executable, "-c", code], env=environ, cwd=REPOSITORY, text=True)
    assert told.split() == ["/scheduler/static/", "/scheduler/", "/scheduler/", "/scheduler/"]
