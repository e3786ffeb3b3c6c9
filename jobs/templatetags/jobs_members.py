"""`{% load jobs_members %}`: filters of the members' templates, beside those of `jobs/console/ops/shared/tags.py`."""

from collections.abc import Mapping

from django import template

from jobs.lifecycle import Status
from jobs.models import JobRow
from jobs.portal import words
from jobs.reading.public_error import public_text

register = template.Library()
register.filter("word", words.word)


@register.filter
def about(job: JobRow, names: Mapping[tuple[str, str | None], str]) -> str:
    """The name of the object that the job is about, or the title of the function that it calls."""
    unnamed = job.source_type if job.source_id is None else f"{job.source_type} {job.source_id}"
    title = names.get((job.source_type, job.source_method), unnamed)
    return names.get((job.source_type, job.source_id), title)


@register.filter
def whose(job: JobRow, users: Mapping[str, str]) -> str:
    return users.get(job.user_key, job.user_key)


@register.filter
def error(job: JobRow) -> str:
    """Return the part of a failed job's error that its tenant may read."""
    return public_text(job.last_error) if job.status in (Status.ERROR, Status.DEAD) else ""
