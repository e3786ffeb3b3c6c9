"""The wheel among the packages of other projects: what a resolver makes of it, and a project that runs with them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from embedded import REPOSITORY
from embedded.processes import Processes
from tests.acceptance.installing import environment, run
from tests.pages import blocks
from tests.thorough import THOROUGH

pytestmark = [
    pytest.mark.long("a bound that excludes packages of others, a name that an older one lacks"),
    pytest.mark.timeout(600),  # the index may be slow
]
UV = Path(sys.executable).with_name("uv")
COOKIECUTTER = REPOSITORY / "tests" / "existing" / "cookiecutter"
PACKAGE = REPOSITORY / "PACKAGE.md"

COMPANIONS = [
    *("flower", "django-celery-results", "django-celery-beat", "sentry-sdk[celery,django]", "dj-stripe"),
    *("djangorestframework", "wagtail", "django-unfold", "django-health-check", "django-redis"),
]
# As projects had them locked in the summer of 2026: beside Celery's newest nothing else was.
SUMMER = [
    "amqp==5.3.1", "asgiref==3.9.1", "billiard==4.2.4", "celery==5.6.3", "click==8.1.8",
    "cron-descriptor==1.4.5", "django==5.2.16", "django-celery-beat==2.9.0", "django-timezone-field==7.1",
    "kombu==5.6.2", "opentelemetry-api==1.28.1", "packaging==25.0", "prompt-toolkit==3.0.51", "psutil==6.1.1",
    "psycopg[binary]==3.3.4", "pydantic==2.11.7", "python-crontab==3.3.0", "python-dateutil==2.9.0.post0",
    "redis==8.0.1", "rich==13.9.4", "sentry-sdk==2.35.0", "vine==5.1.0",
]  # fmt: skip
PACKAGES = {"the newest": ["psycopg[binary]", "django-celery-beat"]}
if THOROUGH:
    PACKAGES["those of a summer"] = SUMMER

ADDED = {
    "config/settings/base.py": """
JOBS_TENANT_MIRROR = "teams.Team"
JOBS_TENANT_SLUG = "pk"
""",
    "config/settings/local.py": """
CACHES["jobs"] = {
    "BACKEND": "django.core.cache.backends.redis.RedisCache",
    "LOCATION": CELERY_BROKER_URL.removesuffix("/0") + "/1",
    "OPTIONS": {"serializer": "jobs.cache.Text", "socket_timeout": 5},
}
JOBS_CACHE = "jobs"
""",
    "config/urls.py": """
from django.urls import include
from jobs.api import api as jobs_api

urlpatterns += [path("ops/", include("jobs.console.ops.urls")), path("jobs-api/v1/", jobs_api.urls)]
""",
    "acme/teams/models.py": """
from jobs import Asynchronous, job


class Digest(Asynchronous, models.Model):
    team = models.ForeignKey(Team, models.CASCADE)
    jobs_tenant = "team"

    @job(dedup=False, timeout=60)
    def send(self, *, number: int) -> str:
        return f"{self.team.name}: {number}"
""",
}


@pytest.fixture(scope="module")
def index() -> None:
    """Ordinary configuration leads to one, or nothing here can be resolved."""
    asked = subprocess.run([UV, "pip", "compile", "-"], input="asgiref", capture_output=True, text=True, check=False)
    if asked.returncode:
        pytest.skip(f"no package index can be reached: {asked.stderr.strip()[-200:]}")


def resolved(requirements: list[str], python: str) -> set[str]:
    """The releases, as `name==version`."""
    argv = [UV, "pip", "compile", "--no-header", "--no-annotate", "--python-version", python, "-"]
    done = subprocess.run(argv, input="\n".join(requirements), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {line for line in done.stdout.splitlines() if "==" in line}


@pytest.mark.parametrize("python", ["3.11", "3.14"] if THOROUGH else ["3.11"])
@pytest.mark.parametrize("others", [COMPANIONS, SUMMER], ids=["companions", "summer"])
def test_a_project_keeps_every_package_that_it_has(others, python, wheel, index) -> None:
    """A bound of ours would be refused, or another package lowered in silence, as Django once was."""
    ours = f"multi-tenant-job-scheduler[redis,api,admin,metrics,otel] @ {wheel.as_uri()}"
    assert resolved(others, python) - resolved([*others, ours], python) == set()


@pytest.mark.parametrize("others", PACKAGES.values(), ids=PACKAGES)
def test_jobs_of_tenants_run_in_a_project_with_celery_beat_eager_tasks_and_logins_by_mail(
    others, wheel, index, database, tmp_path
) -> None:
    shutil.copytree(COOKIECUTTER, tmp_path, dirs_exist_ok=True)
    run([UV, "venv", "--python", sys.executable, ".venv"], tmp_path, dict(os.environ))
    packages = [f"multi-tenant-job-scheduler[redis,api] @ {wheel.as_uri()}", *others]
    run([UV, "pip", "install", "--python", ".venv", *packages], tmp_path, dict(os.environ))
    take_up(tmp_path)
    environ = environment(database, wheel) | {"DJANGO_SETTINGS_MODULE": "config.settings.local"}

    def manage(*words: str) -> str:
        return run([".venv/bin/python", "manage.py", *words], tmp_path, environ)

    manage("makemigrations", "users", "teams")
    manage("migrate")
    manage("check", "--fail-level", "ERROR", "--database", "default")
    with Processes() as processes:
        worker = f"cd {tmp_path} && exec .venv/bin/python manage.py jobs worker --concurrency 2"
        processes.start("worker", ["bash", "-c", worker], environ, log=tmp_path / "worker.log")
        try:
            run([".venv/bin/python", "walk.py"], tmp_path, environ)
        except BaseException:
            sys.stderr.write((tmp_path / "worker.log").read_text())
            raise


def take_up(project: Path) -> None:
    """By the blocks of PACKAGE.md, and what it leaves to the project."""
    settings, celery, *_ = (block.text for block in blocks(PACKAGE, "python"))
    settings = re.sub(r"(?m)^CELERY_BROKER_URL.*\n", "", settings)  # there is one
    texts = {**ADDED, "config/celery_app.py": celery}
    texts["config/settings/base.py"] = settings + texts["config/settings/base.py"]
    for file, text in texts.items():
        with (project / file).open("a") as opened:
            opened.write(f"\n{text}")
