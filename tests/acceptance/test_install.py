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
# As other projects have them: classes, the apps of django-tenants, schedules, a package of the wrong version.
OTHERS = """
import sys

INSTALLED_APPS += ["mysite"]
SHARED_APPS = ["jobs.apps.JobsConfig"]
CELERY_BEAT_SCHEDULE = {name: {"task": name, "schedule": 60} for name in ("billing.bill", "x.y")}
sys.modules["psutil"] = None

class Base:
    INSTALLED_APPS = INSTALLED_APPS

class Dev(Base):
    DEBUG = True
"""


APP = 'from celery import Celery\napp = Celery("mysite")\n'
BY_FUNCTION = """
from celery import Celery

def make():
    application = Celery("mysite")
    return application

app = make()
"""
TASKS = """
from celery import shared_task
from jobs.contrib.celery_tasks import as_job

@as_job
@shared_task(name="billing.bill")
def bill():
    pass
"""
# Where projects have their app, and which of their files imports it; "" if none does, at least for manage.py.
APPS = {
    "in its package": ("mysite/celery.py", APP, "mysite/__init__.py"),
    "by another name (cookiecutter-django)": ("mysite/celery_app.py", APP, "mysite/__init__.py"),
    "made by a function (readthedocs)": ("mysite/worker.py", BY_FUNCTION, "mysite/__init__.py"),
    "in a package of its own": ("queues/__init__.py", APP, "mysite/settings.py"),
    "imported by workers alone": ("mysite/queues/main.py", APP, ""),
    "at the top": ("tasks_app.py", APP, ""),
}
QUICK = {"by another name (cookiecutter-django)", "made by a function (readthedocs)", "imported by workers alone"}


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

    def write(self, file: str, text: str) -> None:
        """At its end, if it is there."""
        path = self.directory / file
        path.parent.mkdir(exist_ok=True)
        with path.open("a") as opened:
            opened.write(text)

    def move_settings(self, module: str) -> None:
        """As `config.settings.base`, or as a module beside manage.py."""
        target = self.directory / f"{module.replace('.', '/')}.py"
        target.parent.mkdir(exist_ok=True)
        self.settings = self.settings.rename(target)
        self.write("manage.py", "")
        manage = self.directory / "manage.py"
        manage.write_text(manage.read_text().replace("mysite.settings", module))

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


def test_the_printed_block_is_all_that_a_bare_project_needs(project) -> None:
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


def test_a_server_that_does_not_answer_is_told_with_all_else_and_nothing_crashes(project) -> None:
    project.add(BROKEN + OTHERS)
    project.write("mysite/tasks.py", TASKS)
    project.write("mysite/views.py", "from x import app\n\napp.send_task(\n    'billing.bill')\napp.send_task('x.y')\n")
    status, text = project.install()
    assert status == 1
    assert "PostgreSQL does not answer" in text
    assert "secret" not in text
    for line in ("USE_TZ = True", "jobs.E007", "tenants.E002", "jobs.E005"):
        assert line in text
    assert 'SHARED_APPS = [*SHARED_APPS, "django.contrib.postgres", "tenants"]' in block(text)
    told = " ".join(text.split())
    assert "Your settings are a class, Dev" in told
    assert "A worker could not start: ModuleNotFoundError: import of psutil halted" in told
    assert (
        "The schedule 'billing.bill' of Celery's beat sends billing.bill past its tenant's slots. (jobs.W014)" in told
    )
    assert "mysite/views.py:3 sends billing.bill to Celery by its name, past its tenant's slots. (jobs.W014)" in told
    assert (told.count("psutil"), told.count("x.y"), told.count("jobs.W014")) == (1, 0, 2)


def test_a_project_with_a_celery_app_of_its_own_keeps_it(project, subtests) -> None:
    look_at_apps(project, subtests, QUICK)


@pytest.mark.long("an app in a place that is not looked at; the test above looks at three")
def test_a_project_keeps_it_also_elsewhere(project, subtests) -> None:
    look_at_apps(project, subtests, APPS.keys() - QUICK)


def look_at_apps(project, subtests, names) -> None:
    for name in sorted(names):
        file, text, imported_by = APPS[name]
        module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        with subtests.test(name):
            before = {path: path.read_text() for path in project.directory.rglob("*.py")}
            project.write(file, text)
            if imported_by:
                project.write(imported_by, f"\nfrom {module} import app  # noqa\n")
            keeps(project, file, module, "mysite", loaded=bool(imported_by))
            for path in project.directory.rglob("*.py"):
                path.unlink() if path not in before else path.write_text(before[path])


def keeps(project, file, module, name, *, loaded) -> str:
    """It is told to add an app beside its own, and to import that only if nobody does."""
    _, text = project.install()
    assert f"{module} exists, but carries no jobs" in text
    assert f"Add to {file}\n" in text
    assert f'jobs_app = Celery("{name}", set_as_current=False)' in text
    assert f"Write {file}" not in text
    assert (f"from {module} import jobs_app" in text) is not loaded
    return text


@pytest.mark.long("settings in a package or beside manage.py, of which a project has one or the other")
@pytest.mark.parametrize(("settings", "importer"), [("mysite.settings.base", "__init__"), ("quick", "nobody")])
def test_a_project_keeps_it_wherever_its_settings_are(project, settings, importer) -> None:
    project.move_settings(settings)
    project.write("mysite/celery_app.py", APP)
    project.write(f"mysite/{importer}.py", "from mysite.celery_app import app")
    name, loaded = settings.partition(".")[0], settings != "quick"
    do(project, keeps(project, "mysite/celery_app.py", "mysite.celery_app", name, loaded=loaded))


@pytest.mark.long("the same of a project without an app; in a bare one the first test of this file does as it is told")
@pytest.mark.parametrize("settings", ["mysite.settings.base", "quick"])
def test_the_printed_block_is_written_over_nothing(project, settings) -> None:
    """Neither a file that is there, nor Celery itself, by a module of its name beside manage.py."""
    project.move_settings(settings)
    if settings != "quick":
        project.write("mysite/__init__.py", "VERSION = 1\n")
        project.write("mysite/celery/__init__.py", "")
    do(project, project.install()[1])


def do(project, text) -> None:
    """As it is told."""
    told = re.findall(
        r"^(Write|Add to) ([\w/]+\.py)\n\n(.*?)(?=\n(?:Write|Add to) |\Z)", text, re.MULTILINE | re.DOTALL
    )
    assert told
    for verb, file, lines in told:
        path = project.directory / file
        assert verb == "Add to" or not path.exists() or not path.read_text()
        project.write(file, "\n" + lines)
    _, text = project.install()
    assert "carries jobs" in text
    assert "jobs.E005" not in text


def test_without_tenants_there_is_no_other_command_and_no_page(project) -> None:
    for word in ("install", "list"):
        command = [sys.executable, "manage.py", "jobs", word]
        done = subprocess.run(command, cwd=project.directory, env=project.environ, capture_output=True, check=False)
        assert done.returncode == 2
    project.add("ROOT_URLCONF = 'ours'")
    project.write("ours.py", "from django.urls import include, path\n")
    project.write("ours.py", "urlpatterns = [path('ops/', include('jobs.console.ops.urls'))]\n")
    text = " ".join(project.install()[1].split())
    assert 'not known before "tenants" is in INSTALLED_APPS' in text
    assert "RuntimeError" not in text
