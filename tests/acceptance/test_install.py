"""`manage.py jobs install --check`: a bare project gets a block with which it has nothing more to hear."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from embedded import REPOSITORY

pytestmark = pytest.mark.django_db(transaction=True)


BROKEN = """
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "jobs", "tenants"]
MIDDLEWARE, TEMPLATES, CACHES = [], [], {}
USE_TZ = False
ROOT_URLCONF = "nowhere"
JOBS_TENANT_MODEL = "auth.Group"
CELERY_BROKER_URL = "redis://:secret@host/0"
DATABASES["default"] = {
    "ENGINE": "django.db.backends.postgresql", "NAME": "x", "HOST": "/nowhere", "OPTIONS": {"pool": True}
}
"""


class Project:
    """As `django-admin startproject` makes it, with `jobs` alone in INSTALLED_APPS."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.settings = directory, directory / "mysite" / "settings.py"
        ours = connection.get_connection_params()
        where = {f"PG{key.upper()}": str(ours[key]) for key in ("host", "port", "user", "password") if ours.get(key)}
        kept = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
        self.environ = {**kept, **where, "PYTHONPATH": str(REPOSITORY)}
        subprocess.run([sys.executable, "-m", "django", "startproject", "mysite", "."], cwd=directory, check=True)
        self.add("INSTALLED_APPS += ['jobs']")

    def add(self, lines: str) -> None:
        with self.settings.open("a") as file:
            file.write(f"\n{lines}\n")

    def install(self) -> tuple[int, str]:
        """Its status, and what it says."""
        command = [sys.executable, "manage.py", "jobs", "install", "--check"]
        done = subprocess.run(
            command, cwd=self.directory, env=self.environ, capture_output=True, text=True, check=False, timeout=60
        )
        assert not done.stderr, done.stderr
        return done.returncode, done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def block(text: str) -> str:
    """The lines for the settings."""
    return text.partition("Add to the end of mysite.settings\n\n")[2].partition("\n\n")[0]


def written(text: str, file: str) -> str:
    return text.partition(f"Write mysite/{file}.py\n\n")[2].partition("\nWrite ")[0]


def test_what_it_says_is_all_that_a_bare_project_needs(project) -> None:
    status, text = project.install()
    assert status == 1
    assert max(map(len, text.splitlines())) <= 80
    assert [line for line in block(text).splitlines() if line.startswith("# ")], "each has its reason"
    assert '"django.contrib.postgres"]' in block(text), "Django 6 insists on it"
    project.add(block(text).replace('"NAME": "mysite"', f'"NAME": "{connection.settings_dict["NAME"]}"'))
    for file in ("celery", "__init__"):
        (project.directory / "mysite" / f"{file}.py").write_text(written(text, file))
    status, text = project.install()
    assert "Nothing to add" in text
    assert status == 0
    assert re.search(r"^PostgreSQL +1\d\.\d+.*jit is", text, re.MULTILINE)
    assert "mysite carries jobs" in text
    check = [sys.executable, "manage.py", "check", "--fail-level", "WARNING", "--database", "default"]
    subprocess.run(check, cwd=project.directory, env=project.environ, check=True, capture_output=True)


def test_a_server_that_does_not_answer_is_told_and_nothing_crashes(project) -> None:
    project.add(BROKEN)
    status, text = project.install()
    assert status == 1
    assert "PostgreSQL does not answer" in text
    assert "secret" not in text
    for line in ("USE_TZ = True", "jobs.E007", "tenants.E002", "jobs.E005"):
        assert line in text


def test_a_project_with_a_celery_app_of_its_own_keeps_it(project) -> None:
    (project.directory / "mysite" / "celery.py").write_text("from celery import Celery\napp = Celery('mysite')\n")
    _, text = project.install()
    assert "mysite.celery is there, and carries no jobs" in text
    assert 'jobs_app = Celery("mysite", set_as_current=False)' in text
    assert "Write mysite" not in text


def test_without_tenants_there_is_no_other_command(project) -> None:
    for word in ("install", "list"):
        command = [sys.executable, "manage.py", "jobs", word]
        done = subprocess.run(command, cwd=project.directory, env=project.environ, capture_output=True, check=False)
        assert done.returncode == 2
