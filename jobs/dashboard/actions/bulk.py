"""Revive or discard many dead letters: after a confirmation, a thousand at a request, until none is left.

What is left is carried in a signed text, so that no link can make an operator's browser go on with what the operator
has not confirmed.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, cast

from django.contrib.auth.models import User
from django.core import signing
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.dateparse import parse_datetime

from jobs.dashboard.access import action_for, page_for, theme
from jobs.dashboard.actions.jobs import count_of_jobs
from jobs.dashboard.answers import SeeOther, done, refused
from jobs.dashboard.letters import FILTERS, ids, matching
from jobs.dashboard.menu import menu
from jobs.engine.revive import discard, revive
from jobs.models import DeadLetter, Job
from jobs.noting import note
from jobs.store import EVERY_TENANT

MOST = 1000  # letters of one request
BATCH = 100  # of one transaction: one dispatch for all, and short locks
UNASKED = 100  # letters that are revived without a confirmation
COUNTED = 10_000
EXAMPLES = 3
SALT, LONGEST = "ops.dead", 3600  # seconds for which a run may go on
VERBS: dict[str, tuple[Callable[[int], bool], str]] = {
    "revive": (partial(revive, tenant_id=EVERY_TENANT), "Revived"),
    "discard": (discard, "Discarded"),
}


@dataclass(frozen=True)
class Run:
    """What was chosen, and how far it is. upto: no letter of a later death. total: at the start, up to COUNTED."""

    verb: str
    user: int
    chosen: list[int] = field(default_factory=list)
    filters: dict[str, str] = field(default_factory=dict)
    upto: str | None = None
    total: int = 0
    done: int = 0
    skipped: int = 0

    def letters(self) -> QuerySet[DeadLetter]:
        if self.chosen:
            return matching({}).filter(pk__in=self.chosen)
        return matching(self.filters, datetime.fromisoformat(self.upto) if self.upto else None)

    def signed(self) -> str:
        return signing.dumps(asdict(self), salt=SALT, compress=True)


@action_for("jobs.change_deadletter")
def act(request: HttpRequest) -> HttpResponse:
    """A form's choice: `ids`, or `all` that fit the filters up to `upto`; or a confirmed `run`."""
    if "run" in request.POST:
        return _go_on(request, _read(request, request.POST["run"]))
    run = _chosen(request)
    if isinstance(run, str):
        return refused(request, run)
    run = replace(run, total=run.letters()[:COUNTED].count())
    if not run.total:
        return refused(request, "None of these jobs is dead any more.")
    if run.verb == "discard" or run.total > UNASKED:
        examples = run.letters().select_related("tenant").defer("args", "stats")[:EXAMPLES]
        return _page(request, "confirm", {"run": run, "examples": examples, "counted": COUNTED})
    return _go_on(request, run)


@page_for("jobs.change_deadletter")
def progress(request: HttpRequest) -> HttpResponse:
    """How far a run is. The script presses the button until none is left; without it, a person does."""
    run = _read(request, request.GET.get("run", ""))
    return _page(request, "progress", {"run": run, "left": max(run.total - run.done - run.skipped, 0)})


def _page(request: HttpRequest, name: str, shown: dict[str, Any]) -> HttpResponse:
    frame = {"title": "Dead letters", "menu": menu(request), "theme": theme(request), "signed": shown["run"].signed()}
    return render(request, f"dashboard/dead/{name}.html", shown | frame)


def _chosen(request: HttpRequest) -> Run | str:
    """What the form says; or why it is refused."""
    form = request.POST
    verb = form.get("verb", "")
    if verb not in VERBS:
        return f"verb: must be one of {', '.join(VERBS)}."
    user = cast("User", request.user).pk
    if "all" not in form:
        chosen = ids(form.getlist("ids"))
        if not chosen or len(chosen) > MOST:
            return f"Choose 1 to {MOST:,} jobs: tick their boxes."
        return Run(verb, user, chosen=chosen)
    filters = {name: value for name in FILTERS if (value := form.get(name, "").replace("\x00", "").strip())}
    upto = _moment(form.get("upto", ""))
    if not filters or upto is None:
        return "Filter the dead letters first: all of them at once is more than anybody has seen."
    return Run(verb, user, filters=filters, upto=upto.isoformat())


def _moment(text: str) -> datetime | None:
    try:
        found = parse_datetime(text)
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None


def _read(request: HttpRequest, signed: str) -> Run:
    try:
        run = Run(**signing.loads(signed, salt=SALT, max_age=LONGEST))
    except signing.BadSignature:
        raise Http404 from None
    if run.user != cast("User", request.user).pk:
        raise Http404
    return run


def _go_on(request: HttpRequest, run: Run) -> HttpResponse:
    """At most MOST more letters, earliest death first: all requests lock in this order, so no two can deadlock."""
    verb, did = VERBS[run.verb]
    found = list(run.letters().order_by("died_at", "pk").values_list("pk", flat=True)[: MOST + 1])
    applied = 0
    for first in range(0, len(found[:MOST]), BATCH):
        batch = found[:MOST][first : first + BATCH]
        with transaction.atomic():
            moved = [pk for pk in batch if verb(pk)]
            note(cast("User", request.user), list(Job.objects.filter(pk__in=moved).defer("args", "stats")), f"{did}.")
        applied += len(moved)
    run = replace(run, done=run.done + applied, skipped=run.skipped + len(found[:MOST]) - applied)
    if len(found) > MOST and applied:
        return SeeOther(f"{reverse('ops:progress')}?run={run.signed()}")
    skipped = f" Skipped {count_of_jobs(run.skipped)}: no longer dead." if run.skipped else ""
    return done(request, f"{did} {count_of_jobs(run.done)}.{skipped}")
