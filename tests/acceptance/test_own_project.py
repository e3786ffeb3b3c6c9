"""docs/own-project.md, as a reader types it: an empty directory, a virtual environment, and the wheel.

The Python is the `python3` of PATH, and pip chooses the newest Django for it. OWN_PROJECT_ON="3.13 6.1" says which
versions they must be.
"""

import os
import re
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import pytest

from embedded import REPOSITORY
from embedded.processes import Processes
from tests.acceptance.installing import environment, run
from tests.pages import Block, blocks
from tests.thorough import only_thorough

pytestmark = pytest.mark.long("a file that the wheel lacks, a step of docs/own-project.md that fails")

PAGE = REPOSITORY / "docs" / "own-project.md"
TEXT = PAGE.read_text()


def test_the_wheel_has_every_file_of_its_three_packages(wheel: Path) -> None:
    files = run(["git", "ls-files", "jobs", "tenants", "plumbing", "docs/runbooks"], REPOSITORY).split()
    expected = {name.replace("docs/runbooks/", "jobs/runbooks/") for name in files}  # which Health shows
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in names if ".dist-info/" not in name} == expected
    assert {Path(name).suffix for name in names} >= {".py", ".sql", ".html", ".css", ".js"}
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_pytest_finds_the_plugin_in_the_wheel(wheel: Path) -> None:
    [metadata] = [one for one in distributions(path=[str(wheel)]) if one.name == "multi-tenant-job-scheduler"]
    [plugin] = metadata.entry_points.select(group="pytest11")
    assert plugin.name == plugin.value == "jobs.contrib.testing.plugin"


def file_before(block: Block) -> str:
    """The file that the sentence before a block of Python names."""
    above = "\n".join(TEXT.splitlines()[: block.line - 2])
    return re.findall(r"`([\w/]+\.py)`:$", above, re.MULTILINE)[-1]


@only_thorough
@pytest.mark.timeout(600)  # 40 s of processor time; pip may have to fetch
def test_the_page_works_as_it_is_written(wheel: Path, database: dict[str, str], tmp_path: Path) -> None:
    name = database.pop("NAME")
    environ = environment(database, wheel)
    printed = ""
    with Processes() as processes:
        for block in blocks(PAGE, "python", "sh"):
            if block.language == "python":
                path = tmp_path / file_before(block)
                before = path.read_text() if path.name == "settings.py" else ""
                path.write_text(before + block.text.replace('"mysite",\n        "CONN', f'"{name}",\n        "CONN'))
            elif "celery" in block.text:
                [command] = block.text.splitlines()
                started = f"cd {tmp_path} && exec {command} -n own@{name} -c 1"
                processes.start("worker", ["bash", "-c", started], environ, log=tmp_path / "worker.log")
            else:
                printed += run(["bash", "-euo", "pipefail", "-c", block.text], tmp_path, environ)
        [expected] = blocks(PAGE, "text")
        assert expected.text in printed
        run([".venv/bin/python", "manage.py", "check", "--fail-level", "WARNING"], tmp_path, environ)
        run([".venv/bin/python", "manage.py", "check_invariants"], tmp_path, environ)
        see_the_pages(tmp_path, environ)
        here = run([".venv/bin/python", "-c", VERSIONS], tmp_path, environ).strip()
        assert here == os.environ.get("OWN_PROJECT_ON", here)


VERSIONS = "import sys, django; print('{}.{} {}.{}'.format(*sys.version_info[:2], *django.VERSION[:2]))"
SEE = """
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse
from tenants.auth import issue
from tenants.models import Member
from shop.models import Shop
client = Client(headers={"host": "localhost"})
client.force_login(get_user_model().objects.create_superuser("olga"))
pages = ["jobs_queue", "jobs_schedule", "jobs_jobmemory",
         "tenants_tenantqueue", "tenants_member", "tenants_apikey", "tenants_change"]
seen = [reverse(f"admin:{page}_changelist") for page in pages] + [reverse(f"admin:{page}_add") for page in
        ("jobs_queue", "jobs_schedule", "tenants_tenantqueue", "tenants_member", "tenants_apikey")]
seen += ["/ops/", "/ops/tenants/", "/ops/tenants/corner/", "/ops/jobs/", "/ops/jobs/1/", "/ops/queues/",
         "/ops/workers/", "/ops/schedules/", "/ops/dead/", "/ops/health/"]
for address in seen:
    print(client.get(address, follow=True).status_code, address)

shop, users = Shop.objects.get(), get_user_model().objects
Member.objects.create(user=users.create_user("mia", password="x"), tenant=shop)
users.create_user("nobody", password="x")
for name in ("mia", "nobody"):
    client.logout()
    client.post("/login/", {"username": name, "password": "x"})
    for address in ("/jobs/", "/jobs/1/"):
        print(name, client.get(address).status_code)

key = {"headers": {"host": "localhost", "authorization": f"Bearer {issue(shop, 'x')[1]}"}}
body = {"source_type": "shop.order", "source_id": 1, "source_method": "invoice"}
print(Client().post("/api/v1/jobs", body, "application/json", **key).status_code, "/api/v1/jobs")
print(Client().get("/api/v1/jobs/1", **key).status_code, "/api/v1/jobs/1")
"""


def see_the_pages(directory: Path, environ: dict[str, str]) -> None:
    """Every page answers with Django's plain admin, and with tenants of another model."""
    seen = run([".venv/bin/python", "manage.py", "shell", "--no-imports", "-c", SEE], directory, environ)
    wrong = [line for line in seen.splitlines() if re.match(r"[1345]\d\d ", line)]
    assert wrong == []
    assert re.findall(r"mia (.*)", seen) == ["200", "200"]
    assert re.findall(r"nobody (.*)", seen) == ["403", "403"]
    assert "202 /api/v1/jobs" in seen
    assert "200 /api/v1/jobs/1" in seen
