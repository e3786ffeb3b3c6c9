"""The start page of the API: a person with a key can type the calls as they are."""

import json
import re
import shlex
from html import unescape

import pytest
from django.core.signals import request_finished
from django.db import close_old_connections
from django.test import Client

from jobs.conf import documented
from tests.callers import browser_of
from tests.clients import document
from tests.factories import MemberFactory

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/docs"


def calls(page: str) -> list[list[str]]:
    """The curl commands, as a shell reads them."""
    blocks = [unescape(block) for block in re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL)]
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("curl ")]


def test_the_calls_on_a_members_page_work_as_they_are_typed(report, mate, tokens):
    page = mate.get(ADDRESS).content.decode()
    values = {"$URL": "/api/v1", "$KEY": tokens[0]}
    assert "URL=http://testserver/api/v1\n" in page
    statuses = []
    for typed in calls(page):
        words = typed
        for name, value in values.items():
            words = [word.replace(name, value) for word in words]
        address = next(word for word in words if word.startswith("/api/v1"))
        headers = dict(words[at + 1].split(": ", 1) for at, word in enumerate(words) if word == "-H")
        media_type = headers.pop("Content-Type", "")
        client = Client(headers=headers)
        if "-d" in words:
            response = client.post(address, words[words.index("-d") + 1], media_type)
        else:
            response = client.get(address.replace("wait=20", "wait=0"))
        statuses.append(response.status_code)
        if address == "/api/v1/jobs" and response.status_code == 202:
            values["$JOB"] = str(response.json()["id"])
            assert response.json()["source_id"] == str(report.pk)
        if response.streaming:
            request_finished.disconnect(close_old_connections)  # Django's client connects it again
            response.close()
    #                 stats, submit, wait, reason, result, list, again, events, webhook
    assert statuses == [200, 202, 200, 200, 202, 200, 200, 200, 201]


def test_strangers_see_nothing_of_a_tenant_and_everybody_finds_each_endpoint(tenant, report, settings):
    strangers = browser_of(MemberFactory().user)
    for client in (Client(), strangers):
        page = client.get(ADDRESS).content.decode()
        shown = [json.loads(words[words.index("-d") + 1]) for words in calls(page) if "-d" in words]
        assert {call.get("source_id") for call in shown} <= {None, "ID"}, "no object of another tenant"
        assert tenant.jobs_name not in page
        for path, operations in document()["paths"].items():
            for method, operation in operations.items():
                [tag] = operation["tags"]
                assert f"{method.upper()} {path.removeprefix('/api/v1')}</code>" in page
                assert f"/endpoints#/{tag}/{operation['operationId']}" in page
        assert page.index('id="operators"') < page.index("/operator/queues"), "operators' endpoints are apart"
    assert "webhooks.html" not in page
    settings.JOBS_DOCS_URL = "https://docs.example.com"
    assert documented("webhooks") in strangers.get(ADDRESS).content.decode()
