"""Names of job types on the pages: each leads to the page of its type, and a line breaks between its words."""

import re
from typing import Any

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

from jobs.models import JobRow, Schedule
from jobs.reading import listing
from plumbing.addresses import address
from plumbing.names import named
from plumbing.text import printable

# A word of more than 24 letters is broken, too: a phone has no room for it.
WORDS = re.compile(r"[^\s._:]{1,24}(?![^\s._:])[\s._:]*|[^\s._:]{1,12}|[\s._:]+")


def breakable(name: str) -> SafeString:
    """Render a name, or an error, in which a line may break after each dot and underscore."""
    return SafeString("<wbr>".join(map(escape, WORDS.findall(name))))


def type_link(context: Any, job_type: object, most: int = 80) -> SafeString:
    """Render the name of a job type, cut to `most` characters, as a link to its page if the user may see that."""
    name = str(job_type)
    whole = printable(name)
    cut = _cut(whole, most)
    shown, hint = breakable(cut), "" if cut == whole else format_html(' title="{}"', whole)
    page = address("jobs_ops:job-type", name) if context["request"].user.has_perm(named("jobs.view_job")) else ""
    if not page:
        return format_html("<span{}>{}</span>", hint, shown)
    return format_html('<a href="{}"{}>{}</a>', page, hint, shown)


def call_link(context: Any, job: JobRow | Schedule, most: int = 80) -> SafeString:
    """Render the call of a job: its type as `type_link`, and its object."""
    named_type = type_link(context, listing.job_type(job), most)
    return format_html("{}:{}", named_type, _cut(printable(job.source_id), most)) if job.source_id else named_type


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
