"""The first production hour: what is typed at the scheduler works as it stands there."""

import json
import re
import shlex
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from embedded import REPOSITORY
from jobs.models import Job
from tests.pages import blocks

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = REPOSITORY / "docs/first-production-hour.md"
SHELL = "\n".join(block.text for block in blocks(PAGE, "sh"))
VARIABLES = [block.text for block in blocks(PAGE, "ini")]


def typed(line: str) -> str:
    out = StringIO()
    call_command(*shlex.split(line), stdout=out)
    return out.getvalue()


def test_the_tenant_its_key_and_its_first_job(register):
    register()
    User.objects.create_user("ines")
    tenants = re.findall(r"^manage ((?:tenants|keys|members) .+)$", SHELL, re.MULTILINE)
    assert [line.split()[0] for line in tenants] == ["tenants", "keys", "members"]
    added = [json.loads(typed(f"{line} --json")) for line in tenants]
    key = added[1]["token"]
    [block] = blocks(PAGE, "python")
    names: dict[str, object] = {}
    exec(block.text.replace("print(report.pk)", ""), names)
    program = Client(headers={"Authorization": f"Bearer {key}"})
    [body] = re.findall(r"-d '(\{.*\})'", SHELL)
    call = json.loads(body) | {"source_id": names["report"].pk}
    answer = program.post("/api/v1/jobs", call, content_type="application/json")
    assert answer.status_code == 202, answer.content
    assert Job.objects.get().status == "queued"  # it has a slot
    assert len(program.get("/api/v1/jobs?limit=5").json()["jobs"]) == 1


def test_the_variables_are_those_without_which_no_process_starts_and_the_proxy_answers_what_is_asked():
    [text] = VARIABLES
    named = re.findall(r"^(\w+)=.", text, re.MULTILINE)
    example = (REPOSITORY / "deploy/.env.example").read_text().split("# --- Web ---")[0]
    assert named == re.findall(r"^(\w+)=", example, re.MULTILINE)
    closed = re.findall(r"location = (\S+) \{\n\s+allow", (REPOSITORY / "deploy/nginx.conf").read_text())
    assert closed and not [path for path in closed if f"https://jobs.example.com{path}" in SHELL]
