"""The pages that ask what other limits would have done, and show the answer. They change no limits."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import path, reverse

from jobs import store
from jobs.calls.refusals import InvalidRequest
from jobs.console.ops.shared import live
from jobs.console.ops.shared.access import action_for, page_for
from jobs.console.ops.shared.answers import sentence
from jobs.insight import what_if, what_if_picture, what_if_words
from jobs.insight.what_if import LIMITS, SUBJECTS, Question
from jobs.insight.what_if_process import State, state_of
from jobs.models import WhatIf
from jobs.pages.answers import SeeOther, existing
from jobs.pages.typed import texts
from plumbing.text import storable

ROOM = 3  # further changes that the form has fields for
AGAIN = 2  # seconds until the page reloads
DRAWN, SHOWN = 12, 100  # lanes in the picture; in the table behind it
Change = tuple[str, str, str, Any]  # kind, name, limit, value
FIELDS = ("kind", "name", "limit", "value")
CHOICES = [(kind, [(name, name) for name in names]) for kind, names in LIMITS.items()]
NONE: Change = ("", "", "", "")


@page_for("tenants.view_tenantqueue")
def show(request: HttpRequest) -> HttpResponse:
    """Show the form, filled from the address.

    `tenant`, `queue`, `pool`: the name of a subject whose limits would be different
    a limit by its name: its value
    """
    given: list[Change] = []
    for kind, subject in SUBJECTS.items():
        if name := request.GET.get(subject):
            limits = [(kind, name, limit, request.GET[limit]) for limit in LIMITS[kind] if limit in request.GET]
            given += limits or [(kind, name, LIMITS[kind][0], "")]
    return _form(request, given)


@page_for("tenants.view_tenantqueue")
def answer(request: HttpRequest, pk: int) -> HttpResponse:
    found = WhatIf.objects.filter(pk=pk).first()
    row = existing(found, "There is no such question, or it is older than a day.")
    state = state_of(row.asked_at, row.ended_at, row.refused, store.database_now())
    asked = row.question
    moments = [datetime.fromisoformat(asked[name]).astimezone(UTC) for name in ("since", "until")]
    since, until = (f"{moment:%Y-%m-%dT%H:%M:%S}" for moment in moments)
    context = {"state": state, "wrong": row.refused, **_shown(row.answer)}
    page = _form(request, list(_given(asked["changes"])), since, until, **context)
    if state is State.REPLAYING:
        page["Refresh"] = str(AGAIN)
    return page


def _form(request: HttpRequest, given: Sequence[Change], since: str = "", until: str = "", **more: Any) -> HttpResponse:
    """Render the page with the form.

    given, since, until: the values in the form
    more: `wrong`, the reason for a refusal; or an answer and its state
    """
    context = {
        "rows": given or [NONE],
        "room": [NONE] * ROOM,
        "kinds": list(LIMITS),
        "limits": CHOICES,
        "since": since,
        "until": until,
        **more,
    }
    return live.page(request, "what_if", "What if", (), context, every=0)


def _shown(document: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what the page shows of the answer; the document has as many lines as lanes."""
    if document is None:
        return {}
    noticed = [line for line in document["lines"] if line.get("noticeable")]
    return {
        "answer": document,
        "picture": what_if_picture.picture(noticed[:DRAWN]),
        "hidden": len(noticed[DRAWN:]),
        "shown": document["lines"][:SHOWN],
        "rule": what_if_words.RULE,
    }


def _given(changes: Mapping[str, Any]) -> Iterator[Change]:
    for kind, named in changes.items():
        for name, limits in named.items():
            for limit, value in limits.items():
                yield kind, name, limit, "none" if value is None else value


@action_for("tenants.view_tenantqueue")
def ask(request: HttpRequest) -> HttpResponse:
    """Store the question and redirect to the page of its answer; show the form with the reason if it is invalid."""
    columns = [[storable(text).strip() for text in request.POST.getlist(name)] for name in FIELDS]
    given = [(kind, name, limit, value) for kind, name, limit, value in zip(*columns, strict=False) if name]
    times = texts(request.POST, ("since", "until"))
    try:
        question = Question.of(times["since"], times["until"], what_if.read(given), now=store.database_now())
        row = what_if.ask(question, request.user.get_username())
    except InvalidRequest as refused:
        return _form(request, given, **times, wrong=sentence(refused))
    return SeeOther(reverse("jobs_ops:what-if-answer", args=[row.pk]))


urlpatterns = [
    path("what-if/", show, name="what-if"),
    path("what-if/ask", ask, name="ask-what-if"),
    path("what-if/<int:pk>/", answer, name="what-if-answer"),
]
