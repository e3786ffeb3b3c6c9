"""Filters of the templates: numbers, times and durations for people; and the tags of other modules."""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify

from jobs.allocation.gates import Gate
from jobs.conf import documented, settings
from jobs.console.operations.audited import subject_in_words, values_in_words
from jobs.console.ops.shared import meanings
from jobs.console.ops.shared.bars import bar, share_bar
from jobs.console.ops.shared.run_times import in_words
from jobs.console.ops.shared.search_language import with_word
from jobs.console.ops.shared.snapshot import MAX_COUNT
from jobs.console.ops.shared.type_names import breakable, call_link, type_link
from jobs.console.ops.shared.waits_for import waits_for
from jobs.pages.forms import post, query_with, select
from jobs.pages.tables import column, fact, table
from jobs.reading.listing import call, job_type, ran, state, wait_in_words, waited
from jobs.reading.masked import masked
from plumbing.addresses import address, in_admin
from plumbing.names import named
from plumbing.text import duration, printable
from tenants.by_name import as_text

register = template.Library()


@register.simple_tag
def glossary() -> str:
    """Return the address of the glossary; "" if this installation has no site of the documentation."""
    return documented("glossary") if settings.JOBS_DOCS_URL else ""


# The gates in a few words, for many jobs at once; `explain` has a sentence for one job.
GATES = {
    Gate.TENANT_PAUSED: "the tenant is paused",
    Gate.NO_SLOTS: "the tenant has no slots",
    Gate.SLOTS_FULL: "slots of the tenant itself",
    Gate.LANE_HELD: "a job of the tenant that holds the others",
    Gate.LANE_FULL: "its tenant's slots in this queue",
    Gate.QUEUE_PAUSED: "the queue is paused",
    Gate.QUEUE_HELD: "a job that holds the queue",
    Gate.QUEUE_FULL: "the queue's concurrency limit",
    Gate.QUEUE_RATE: "the queue's rate limit",
    Gate.TENANT_RATE: "the tenant's rate limit",
    Gate.NO_WORKER: "a live worker of the pool",
    Gate.POOL_FULL: "a free process of the pool",
    Gate.USER_FULL: "slots of the user itself",
    Gate.NEXT: "their turn in line",
}

register.filter(named)  # {{ "jobs.view_job"|named }}
for read in (call, job_type, ran, state, subject_in_words, values_in_words, wait_in_words, waited):
    register.filter(read)
register.simple_block_tag(post, takes_context=True)
register.simple_tag(select)
register.simple_tag(bar)
register.simple_tag(share_bar)
register.simple_tag(waits_for)
register.tag(table)
register.tag(column)
register.simple_block_tag(fact)
register.filter(breakable)
register.filter("run_time", in_words)
register.simple_tag(type_link, takes_context=True)
register.simple_tag(call_link, takes_context=True)
register.filter("visible", printable)  # a stranger's text, without control characters


@register.filter
def at(values: Mapping[str, Any], name: str) -> Any:
    """Return the value of this name; None if there is none."""
    return values.get(name)


@register.filter
def gate(one: Gate) -> str:
    """Return what the jobs at a gate wait for."""
    return GATES[one]


@register.filter
def gates(found: Iterable[tuple[Gate, int]]) -> str:
    """Return how many jobs wait for what: "1,204: slots of the tenant itself; 3: their turn in line"."""
    return "; ".join(f"{jobs:,}: {GATES[one]}" for one, jobs in found)


register.simple_tag(in_admin)  # {% in_admin "jobs_schedule_change" one.pk as change %}


@register.filter
def term(name: str) -> SafeString:
    """Render a word of the pages with its meaning as a tooltip."""
    return format_html('<abbr title="{}">{}</abbr>', meanings.TERMS[name.lower()], name)


@register.filter
@cache  # of the titles of all templates; each cell of a column has its title
def terms(title: str) -> SafeString:
    """Render the title of a column; each {word} in it has its meaning as a tooltip."""
    return mark_safe(re.sub(r"\{(.+?)\}", lambda word: term(word[1]), title))  # noqa: S308 - of a template


@register.filter
@cache  # of the few states
def badge(state: str) -> SafeString:
    """Render the state of a job or a tenant in its colour."""
    return format_html('<span class="state {}">{}</span>', slugify(state), state)


@register.filter
def setting(value: Any) -> str:
    """Format the value of a limit: 3, 1,000,000, 0.5, yes, a name, or several with commas; a dash for none."""
    if value is None or value in ([], {}):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return as_text(value)
    if isinstance(value, str):
        return value
    return ", ".join(value) if isinstance(value, list) else f"{value:,.15g}"


@register.filter
def n(number: float | None) -> str:
    """Format a number: 1,204; a dash for None."""
    return "–" if number is None else f"{number:,.0f}"


@register.filter
def holding(in_use: int, limits: Any) -> str:
    """Format the slots in use of a tenant with these limits: "5 + 2 borrowed"."""
    own = limits.num_slots or 0
    return n(in_use) if in_use <= own or not limits.burst_slots else f"{n(own)} + {n(in_use - own)} borrowed"


@register.filter
def seconds(number: float) -> str:
    """Format seconds to the millisecond, for bills: 1,204.250."""
    return f"{number:,.3f}"


@register.filter
def counted(number: int) -> str:
    """Format a number that was counted up to MAX_COUNT: 1,204, or 2,000+."""
    return f"{number:,}{'+' if number >= MAX_COUNT else ''}"


@register.filter
def span(seconds: float | str | None) -> str:
    """Format a duration in its largest unit: 4 min; a dash for None, and for a value that a template did not find."""
    return "–" if seconds is None or isinstance(seconds, str) else duration(seconds)


@register.filter
def share(part: int, whole: int) -> str:
    """Format a part of a whole: 41 %."""
    percent = part / whole * 100 if whole else 0.0
    return "< 1 %" if 0 < percent < 1 else f"{percent:.0f} %"


@register.filter
def ago(moment: datetime | None, now: datetime) -> str:
    """Format the duration from a moment to now."""
    return span(None if moment is None else (now - moment).total_seconds())


@register.filter
def ahead(moment: datetime | None, now: datetime) -> str:
    """Format the duration from now to a moment."""
    return span(None if moment is None else (moment - now).total_seconds())


@register.filter
def moment(at: datetime | None, now: datetime | None = None) -> SafeString | str:
    """Render a time in UTC; with its date if that is not today. The script adds the local time as a tooltip."""
    if at is None:
        return "–"
    written = f"{at:%Y-%m-%d %H:%M:%S}" if now is None else clock(at, now)
    return format_html('<time datetime="{}">{}</time>', at.isoformat(), written)


@register.filter
def minute(at: datetime, now: datetime) -> SafeString:
    """Render a time in UTC to the minute; with its date if that is not today."""
    written = f"{at:%H:%M}" if at.date() == now.date() else f"{at:%Y-%m-%d %H:%M}"
    return format_html('<time datetime="{}">{}</time>', at.isoformat(), written)


@register.filter
def clock(at: datetime, now: datetime) -> str:
    """Format a time in UTC for a chart, with its date if that is not today."""
    return f"{at:%H:%M:%S}" if at.date() == now.date() else f"{at:%Y-%m-%d %H:%M:%S}"


@register.filter
def as_json(value: Any) -> str:
    """Format indented JSON with masked secrets, and without control characters."""
    return printable(json.dumps(masked(value), indent=2, ensure_ascii=False, sort_keys=True))


@register.filter
def short(value: object, most: int) -> str:
    """Cut a text to at most so many characters; then the last one is "…".

    Django's `truncatechars` also normalises and translates: 40 µs, and a list uses it 300 times.
    """
    text = str(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"


@register.simple_tag(takes_context=True)
def adds(context: Any, name: str, value: str, most: int, label: str = "") -> SafeString | str:
    """Render a text as a link that adds its filter to the page, or to its search; without a link if no word can."""
    whole, given = printable(label or value), context["request"].GET
    shown = short(whole, most)
    if "q" not in context:
        address = query_with(given, **{name: value})
    elif typed := with_word(context["q"], name, value):
        address = query_with(given, q=typed, before=None, upto=None)
    else:
        return shown
    title = "" if shown == whole else format_html(' title="{}"', whole)
    return format_html('<a href="{}"{}>{}</a>', address, title, shown)


@register.simple_tag(takes_context=True)
def linked(context: Any, text: Any, permission: str, view: str, *args: Any) -> SafeString | str:
    """Render a text as a link to a page, if the user has the permission for it."""
    page = address(view, *args) if context["request"].user.has_perm(named(permission)) else ""
    return format_html('<a href="{}">{}</a>', page, text) if page else str(text)


@register.simple_tag(takes_context=True)
def with_query(context: Any, **changes: Any) -> str:
    """Return the query string of this page with some parameters changed, or removed by None."""
    return query_with(context["request"].GET, **changes)
