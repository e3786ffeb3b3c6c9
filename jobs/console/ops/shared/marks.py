"""Mark in a chart what may have changed its course: deploys, workers, pauses, limits, bulk actions.

They come from the audit log and from the workers. Those of one place are drawn as one.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from jobs.console.operations.audited import values_in_words
from jobs.console.ops.shared.ended_chart import Chart
from jobs.console.ops.shared.present_queries import look
from jobs.models import PausedJobType, Queue, Worker
from jobs.pages.cached import PAST_SECONDS, cached
from plumbing.names import kind_of, named
from plumbing.text import printable
from tenants.models import Change, TenantQueue

KINDS = ("lost", "flag", "paused", "limit", "bulk", "started")  # of several at one place the first is drawn
MOST = 500  # that are read of a kind
PLACES = 30  # of a chart, so that none covers another on a narrow screen
LISTED = 12  # lines below the chart
NAMED = 2  # of those that happened at one place
LONGEST = 120  # characters of one
OF_WORKERS = ("lost", "started")
OF_TENANTS, OF_QUEUES, OF_TYPES, OF_MARKS = map(kind_of, (TenantQueue, Queue, PausedJobType, Change))
OF_WORKER = kind_of(Worker)


@dataclass(frozen=True)
class Mark:
    """Something that happened, of one of KINDS.

    bulk: the id of the bulk action
    job_type: the name of the job type that it is about; "" if it is about none
    """

    at: datetime
    kind: str
    words: str
    bulk: UUID | None = None
    job_type: str = ""


@dataclass(frozen=True)
class MarkLine:
    """The marks of one kind at one place of the chart: the moment of the first, and the words of all."""

    at: datetime
    kind: str
    words: str
    bulk: UUID | None


@dataclass(frozen=True)
class MarkRow:
    """The marks of a chart.

    shapes: SVG for the row below it
    flags: the SVG path of the lines through the chart, of deploys and lost workers
    lines: their words, the latest first
    more: the number of the other lines
    """

    shapes: SafeString
    flags: str
    lines: Sequence[MarkLine]
    more: int


def marks_of(
    request: HttpRequest, drawn: Chart | None, tenant_id: int | None = None, job_type: str = ""
) -> MarkRow | None:
    """Return the marks of a chart that this user may see; None if there are none.

    tenant_id: whose chart it is; None: of all tenants
    job_type: of which job type; "": of all job types
    """
    if drawn is None:
        return None
    since, until = drawn.since, drawn.since + drawn.steps * drawn.step
    changes, workers = (request.user.has_perm(named(of)) for of in ("tenants.view_change", "jobs.view_worker"))
    found = marks_between(since, until, tenant_id) if changes or workers else ()
    if job_type:
        found = [one for one in found if one.job_type in ("", job_type)]
    return row((one for one in found if (workers if one.kind in OF_WORKERS else changes)), drawn)


@cached(PAST_SECONDS, before=())
def marks_between(since: datetime, until: datetime, tenant_id: int | None) -> Sequence[Mark]:
    """Return the marks of a period; of the changes of a tenant its own, and those about no tenant."""
    kinds, verbs = [OF_TENANTS, OF_QUEUES, OF_TYPES, OF_MARKS], ["added", "changed", "deleted", "marked"]
    rows = look("look_marks", kinds=kinds, verbs=verbs, since=since, until=until, tenant_id=tenant_id, most=MOST)
    found, bulks = [], defaultdict(list)
    for at, who, verb, kind, subject, values, bulk in rows:
        change = Change(at=at, who=who, verb=verb, kind=kind, subject=subject, values=json.loads(values), bulk=bulk)
        if kind == OF_WORKER:
            found.append(Mark(at, verb, f"worker {subject} {verb}"))
        elif bulk is not None:
            bulks[bulk].append(change)
        elif (told := of_change(change)) is not None:
            found.append(told)
    return [*found, *map(_of_bulk, bulks.values())]


def of_change(change: Change) -> Mark | None:
    """Return the mark of an entry of the audit log about one object; None for an entry that charts do not show."""
    if change.kind == OF_MARKS:
        return _told(change, "flag", change.subject)
    if change.kind == OF_TYPES:
        words = f"{change.subject} {'resumed' if change.verb == 'deleted' else 'paused'}"
        return replace(_told(change, "paused", words), job_type=change.subject)
    if change.verb != "changed":
        return None
    name = f"queue {change.subject}" if change.kind == OF_QUEUES else _tenant(change.subject)
    if set(change.values) == {"paused"}:
        return _told(change, "paused", f"{name} {'paused' if change.values['paused'][-1] else 'resumed'}")
    return _told(change, "paused" if "paused" in change.values else "limit", f"{name}: {values_in_words(change)}")


def _tenant(subject: str) -> str:
    """Return the tenant that these limits are of. Entries of older releases say "Acme: 5 slots"."""
    name = subject.removeprefix("limits of ")
    return name if name != subject else subject.rpartition(": ")[0]


def _of_bulk(entries: Sequence[Change]) -> Mark:
    """Return the mark of a bulk action, which has an entry for each tenant."""
    jobs = sum(entry.values.get("number", 1) for entry in entries)
    return _told(entries[-1], "bulk", f"{jobs:,} job{'' if jobs == 1 else 's'} {entries[0].verb}")


def _told(change: Change, kind: str, words: str) -> Mark:
    return Mark(change.at, kind, f"{_short(words)} by {_short(change.who)}", change.bulk)


def _short(words: str) -> str:
    shown = printable(words)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"


def row(marks: Iterable[Mark], drawn: Chart) -> MarkRow | None:
    """Draw these marks; None if the chart has none of them."""
    each = -(-drawn.steps // PLACES)  # steps of a place
    places: dict[int, dict[str, list[Mark]]] = defaultdict(lambda: defaultdict(list))
    for one in marks:
        step = (one.at - drawn.since) // drawn.step
        if 0 <= step < drawn.steps:
            places[step // each][one.kind].append(one)
    if not places:
        return None
    lines = {place: [_line(places[place][kind]) for kind in KINDS if kind in places[place]] for place in sorted(places)}
    shapes: list[tuple[Any, ...]] = []
    for place, of_place in lines.items():
        x, number = _x(place, each, drawn), sum(map(len, places[place].values()))
        words = "; ".join(f"{line.at:%H:%M} {line.words}" for line in of_place)
        count = format_html('<text x="{}%" y="20">{}</text>', x, number) if number > 1 else ""
        shapes.append((of_place[0].kind, place * each, words, of_place[0].kind, x, count))
    flags = [place for place, kinds in places.items() if kinds.keys() & {"flag", "lost"}]
    told = sorted((line for of_place in lines.values() for line in of_place), key=lambda line: line.at, reverse=True)
    return MarkRow(
        format_html(
            '<svg class="marks" data-each="{}" aria-hidden="true">{}</svg>',
            each,
            format_html_join(
                "",
                '<g class="mark-{}" data-n="{}"><title>{}</title><use href="#mark-{}" x="{}%" y="7"/>{}</g>',
                shapes,
            ),
        ),
        "".join(f"M{float(_x(place, each, drawn)) * 6:g} 0v100" for place in sorted(flags)),
        told[:LISTED],
        len(told) - len(told[:LISTED]),
    )


def _x(place: int, each: int, drawn: Chart) -> str:
    """Return the middle of a place, in percent of the width."""
    return f"{min((place + 0.5) * each / drawn.steps, 1) * 100:.4g}"


def _line(marks: Sequence[Mark]) -> MarkLine:
    first, *_ = marks = sorted(marks, key=lambda one: one.at)
    others = len(marks) - NAMED
    words = ", ".join(one.words for one in marks[:NAMED]) + (f" and {others:,} more" if others > 0 else "")
    return MarkLine(first.at, first.kind, words, first.bulk if len(marks) == 1 else None)
