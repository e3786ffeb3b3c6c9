"""The report, for a terminal 80 characters wide."""

import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterator

from django.conf import global_settings
from django.conf import settings as project

from jobs.checks.project_files import is_package, package, root
from jobs.management.installing import facts
from jobs.management.installing.host_app import host_app
from jobs.management.installing.wanted import SetupStep, wanted

WIDTH = 80
INDENT = 13  # of the text beside the name of a fact
CELERY = """import os

from celery import Celery

from jobs.celery import configure

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "{settings}")
app = Celery("{package}")
app.config_from_object("django.conf:settings", namespace="CELERY")
configure(app)"""
BESIDE = """from celery import Celery

from jobs.celery import configure

jobs_app = Celery("{package}", set_as_current=False)  # beside your own app
jobs_app.config_from_object("django.conf:settings", namespace="CELERY")
configure(jobs_app)"""
IMPORT = """from {module} import app as celery_app

__all__ = ["celery_app"]"""
NAMES = ("celery", "celery_app", "jobs_celery")  # of a new module with an app
IN_A_CLASS = (
    "Your settings are a class, {name}: write each line into it, as an attribute or a property that extends what its "
    "base has."
)


def write(say: Callable[[str], object]) -> bool:
    """Print what the project has and what it lacks; return whether it lacks nothing."""
    say("What the project has")
    for name, fact in facts.facts():
        say(textwrap.fill(f"{name:{INDENT}}{fact}", WIDTH, subsequent_indent=" " * INDENT))
    missing = wanted(server=facts.answers())
    lines = [step for step in missing if step.lines]
    say("")
    if not missing:
        say("Nothing to add: this project is ready for jobs.")
        return True
    if lines:
        say(f"Add to the end of {project.SETTINGS_MODULE}")
        say("")
        for line in _block(lines):
            say(line)
        if name := _class_of_settings():
            say("")
            say(textwrap.fill(IN_A_CLASS.format(name=name), WIDTH))
    for step in missing:
        if not step.lines:
            _print(step, say)
    return False


def _block(missing: list[SetupStep]) -> Iterator[str]:
    """Yield the lines of settings, with the reasons above them. Reasons for the same lines stand together."""
    for lines in dict.fromkeys(step.lines for step in missing):
        for step in missing:
            if step.lines == lines:
                yield textwrap.fill(_reason(step), WIDTH, initial_indent="# ", subsequent_indent="# ")
        name = re.split(r"\W", lines)[0]
        if re.search(rf"{name}\[|\*{name}", lines) and not project.is_overridden(name):  # type: ignore[misc]
            yield f"{name} = {json.dumps(getattr(global_settings, name), indent=4)}"  # Django's, which these extend
        yield lines


def _reason(step: SetupStep) -> str:
    return f"{step.why} ({step.id})" if "." in step.id else step.why


def _class_of_settings() -> str:
    """Return the last class with settings, as of django-configurations, in their module; "" if there is none."""
    named = vars(sys.modules[project.SETTINGS_MODULE]).items()
    return next(
        (name for name, value in reversed(named) if isinstance(value, type) and hasattr(value, "INSTALLED_APPS")), ""
    )


def _print(step: SetupStep, say: Callable[[str], object]) -> None:
    """Print something missing that no line of settings adds: its hint, or the files of a Celery app."""
    say("")
    if step.id != "jobs.E005":
        say(textwrap.fill(f"{_reason(step)} {step.hint}", WIDTH))
        return
    say(textwrap.fill(_reason(step), WIDTH))
    for file, text in _files_of_celery():
        path = root() / file
        verb = "Add to" if path.exists() and path.read_text().strip() else "Write"
        say(f"\n{verb} {file}")
        say("")
        say(text)


def _files_of_celery() -> Iterator[tuple[str, str]]:
    """Yield the files to write or to add to, with the lines for each; a second app if the project has one already."""
    theirs, inside = host_app(), is_package()
    importer = f"{package()}/__init__.py" if inside else f"{package()}.py"
    if theirs:
        yield theirs.file, BESIDE.format(package=package())
        if not theirs.imported:
            yield importer, f"from {theirs.module} import jobs_app  # noqa: F401"
        return
    folder = root() / package() if inside else root()
    free = (name for name in NAMES if not (folder / name).exists() and not (folder / f"{name}.py").exists())
    name = next(name for name in free if inside or name != "celery")  # at the top it would stand before Celery itself
    yield (
        f"{package()}/{name}.py" if inside else f"{name}.py",
        CELERY.format(settings=project.SETTINGS_MODULE, package=package()),
    )
    yield importer, IMPORT.format(module=f"{package()}.{name}" if inside else name)
