"""The README's five minutes, walked in order: what is typed there works as it stands there."""

import json
import re
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from embedded import REPOSITORY
from jobs.models import Job
from reports.demo import customer_database
from reports.models import DataReport
from tenants import auth
from tenants.models import Tenant
from tests.pages import blocks
from tests.sql import sql

pytestmark = pytest.mark.django_db(transaction=True)
README = REPOSITORY / "README.md"
SHELL = "\n".join(block.text for block in blocks(README, "sh"))
[EXPLAINED] = [block.text for block in blocks(README, "text") if "gate" in block.text]


@pytest.fixture
def seeded():
    """What `make up` prepares, in a database where nothing was numbered before."""

    sql("TRUNCATE tenants_tenant, data_reports, data_sources, jobs RESTART IDENTITY CASCADE")
    call_command("seed_demo", stdout=StringIO())
    yield
    for tenant in Tenant.objects.all():
        customer_database.remove(tenant.pk)


def typed(*words):
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def press_run(client, report):
    call = {"source_type": "reports.datareport", "source_id": report.pk, "source_method": "execute"}
    return client.post("/api/v1/jobs", call, content_type="application/json").json()


def test_the_five_minutes(seeded, register):
    register()
    # 2. Ten presses are one job.
    ines = Client()
    assert ines.login(username="ines", password="demo-only")
    tenant = Tenant.objects.get(name="Alder & Finch Capital")
    futures = DataReport.objects.get(tenant=tenant, name="Possible futures")
    assert len({press_run(ines, futures)["id"] for _ in range(10)}) == 1
    Job.objects.all().delete()  # it has run

    # 3. Under "Slots", from 5 to 0; what is run then waits, and `explain` says why, as it is shown.
    admin = Client()
    admin.force_login(User.objects.get(username="admin"))
    assert ">Slots<" in re.sub(r"\s+", "", admin.get("/admin/").content.decode())
    assert tenant.jobs_queue.num_slots == 5
    typed("tenants", "slots", tenant.slug, "--set", "0")
    waiting = press_run(ines, futures)["id"]
    commands = re.findall(r"^ *manage (jobs [^\n#]+)", SHELL, re.MULTILINE)
    assert commands == ["jobs list", "jobs explain"]
    shown = [typed(*command.split()) for command in commands]
    assert f"execute:{futures.pk}" in shown[0]
    lines = [line.strip() for line in EXPLAINED.splitlines()]
    told = shown[1].splitlines()
    assert told[0] == lines[0]
    assert [line.split("  ")[0] for line in told[1:]] == [line.split("  ")[0] for line in lines[1:]]
    assert f"{waiting}, reports.datareport.execute:{futures.pk}" in told[1]
    assert "reports.datareport.execute:12" in lines[1]
    assert futures.pk == 12
    assert told[-1] == lines[-1]

    # 4. The request of the page, with a key of the tenant.
    typed("tenants", "slots", tenant.slug, "--set", "5")
    [body] = re.findall(r"-d '(\{.*\})'", SHELL)
    _, key = auth.issue(tenant, "readme")
    program = Client(headers={"Authorization": f"Bearer {key}"})
    answer = program.post("/api/v1/jobs", json.loads(body), content_type="application/json")
    assert answer.status_code == 202, answer.content
    assert DataReport.objects.get(pk=json.loads(body)["source_id"]).name == "Growth of 1,000 dollars"
    assert program.get(f"/api/v1/jobs/{answer.json()['id']}").status_code == 200
    assert program.get(f"/api/v1/jobs/{answer.json()['id']}/result").status_code == 202
