"""Find code and schedules that send a Celery task by its name although it runs as a job: past its tenant's slots."""

import re
from collections.abc import Iterator, Mapping

from celery.app import app_or_default
from django.apps import apps
from django.conf import settings as project
from django.core.checks import Tags
from django.db import DatabaseError, transaction

from jobs.authoring.decorator import CELERY_TASK
from jobs.calls import functions
from jobs.checks.project_files import files, relative
from plumbing.faults import Fault, check

SENT = re.compile(r"""\b(?:send_task|[sS]ignature)\(\s*(?:name\s*=\s*)?["']([^"']+)["']""")
HINT = "Let a recurring job call it, or submit it by its delay, as docs/from-celery.md says; or take as_job from it."


def names() -> set[str]:
    """Return the names of the Celery tasks that run as jobs."""
    return {
        getattr(function, CELERY_TASK).name for function in functions.known().values() if hasattr(function, CELERY_TASK)
    }


@check("jobs.W014")
def schedules_of_beat() -> Iterator[Fault]:
    """Only a project with such schedules pays for the imports of this check."""
    entries = {**app_or_default().conf.beat_schedule, **(getattr(project, "CELERY_BEAT_SCHEDULE", None) or {})}
    ours = names() if entries else set()
    for key, entry in entries.items():
        task = entry.get("task") if isinstance(entry, Mapping) else entry.task  # an entry of Celery's own class
        if task in ours:
            yield f"The schedule {key!r} of Celery's beat sends {task} past its tenant's slots.", HINT


@check("jobs.W014", Tags.database)
def schedules_of_django_celery_beat() -> Iterator[Fault]:
    """The table of django-celery-beat may not exist yet."""
    if not apps.is_installed("django_celery_beat"):
        return
    periodic = apps.get_app_config("django_celery_beat").get_model("PeriodicTask")._default_manager
    try:
        with transaction.atomic():
            enabled = periodic.filter(enabled=True, task__in=names()).order_by("name")
            tasks = list(enabled.values_list("name", "task"))
    except DatabaseError:
        return
    for name, task in tasks:
        yield f"The schedule {name!r} of django-celery-beat sends {task} past its tenant's slots.", HINT


@check("jobs.W014", deploy=True)
def sent_by_name() -> Iterator[Fault]:
    """This reads all files of the project, so it is among the checks of a deployment."""
    ours = names()
    for file, text in files() if ours else ():
        for match in SENT.finditer(text):
            if match[1] in ours:
                where = f"{relative(file)}:{text.count(chr(10), 0, match.start()) + 1}"
                yield f"{where} sends {match[1]} to Celery by its name, past its tenant's slots.", HINT
