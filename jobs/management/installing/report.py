"""The report, for a terminal 80 characters wide."""

import json
import re
import textwrap
from collections.abc import Callable, Iterator

from django.conf import global_settings
from django.conf import settings as project

from jobs.checks.extras import is_there
from jobs.management.installing import facts
from jobs.management.installing.wanted import Wanted, wanted

WIDTH = 80
INDENT = 13  # of what is told of a fact
CELERY = """import os

from celery import Celery

from jobs.celery import configure

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "{settings}")
app = Celery("{package}")
app.config_from_object("django.conf:settings", namespace="CELERY")
configure(app)"""
BESIDE = """jobs_app = Celery("{package}", set_as_current=False)  # beside your own app
jobs_app.config_from_object("django.conf:settings", namespace="CELERY")
configure(jobs_app)  # from jobs.celery"""
IMPORT = """from {package}.celery import app as celery_app

__all__ = ["celery_app"]"""


def write(say: Callable[[str], object]) -> bool:
    """Tell what there is and what is missing; return whether nothing is."""
    say("What there is")
    for name, told in facts.facts():
        say(textwrap.fill(f"{name:{INDENT}}{told}", WIDTH, subsequent_indent=" " * INDENT))
    missing = wanted(server=facts.answers())
    lines = [one for one in missing if one.lines]
    say("")
    if not missing:
        say("Nothing to add: this project is ready for jobs.")
        return True
    if lines:
        say(f"Add to the end of {project.SETTINGS_MODULE}")
        say("")
        for line in _block(lines):
            say(line)
    for one in missing:
        if not one.lines:
            _tell(one, say)
    return False


def _block(missing: list[Wanted]) -> Iterator[str]:
    """Settings, with the reason above each. Two reasons for the same lines stand together."""
    for lines in dict.fromkeys(one.lines for one in missing):
        for one in missing:
            if one.lines == lines:
                yield textwrap.fill(_reason(one), WIDTH, initial_indent="# ", subsequent_indent="# ")
        name = re.split(r"\W", lines)[0]
        if re.search(rf"{name}\[|\*{name}", lines) and not project.is_overridden(name):  # type: ignore[misc]
            yield f"{name} = {json.dumps(getattr(global_settings, name), indent=4)}"  # Django's, which these extend
        yield lines


def _reason(one: Wanted) -> str:
    return f"{one.why} ({one.id})" if "." in one.id else one.why


def _tell(one: Wanted, say: Callable[[str], object]) -> None:
    """What no line of settings mends."""
    say("")
    if one.id == "jobs.E005":
        say(textwrap.fill(_reason(one), WIDTH))
        names = {"settings": project.SETTINGS_MODULE, "package": project.SETTINGS_MODULE.rpartition(".")[0]}
        there = is_there("{package}.celery".format(**names))
        for file, text in (("celery", BESIDE if there else CELERY), *(() if there else (("__init__", IMPORT),))):
            say(f"\n{'Add to' if there else 'Write'} {names['package']}/{file}.py")
            say("")
            say(text.format(**names))
    else:
        say(textwrap.fill(f"{_reason(one)} {one.hint}", WIDTH))
