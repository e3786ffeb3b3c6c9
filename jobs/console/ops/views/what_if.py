"""What-if: the form to ask what other limits would have done, and the answer to one that was asked."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone

from jobs.console.operations.what_if import LIMITS
from jobs.console.operations.what_if_process import State, state_of
from jobs.console.ops import live
from jobs.console.ops.access import page_for
from jobs.models import WhatIf

CHANGES = 4  # that the form has room for
AGAIN = 2  # seconds until a page looks again
Change = tuple[str, str, str, Any]  # kind, name, limit, value
NONE: Change = ("", "", "", "")


@page_for("tenants.view_tenantqueue")
def show(request: HttpRequest) -> HttpResponse:
    """`tenant`, `queue`: of which a limit would be another."""
    given = [(f"{kind}s", request.GET[kind], "", "") for kind in ("tenant", "queue") if request.GET.get(kind)]
    return form(request, given)


@page_for("tenants.view_tenantqueue")
def one(request: HttpRequest, pk: int) -> HttpResponse:
    row = WhatIf.objects.filter(pk=pk).first()
    if row is None:
        raise Http404("There is no such question, or it is older than a day.")
    state = state_of(row.asked_at, row.ended_at, row.refused, timezone.now())
    asked = row.question
    moments = [datetime.fromisoformat(asked[name]).astimezone(UTC) for name in ("since", "until")]
    since, until = (f"{moment:%Y-%m-%dT%H:%M:%S}" for moment in moments)
    shown = {"state": state, "answer": row.answer, "refused": row.refused}
    page = form(request, list(_given(asked["changes"])), since, until, **shown)
    if state is State.REPLAYING:
        page["Refresh"] = str(AGAIN)
    return page


def form(request: HttpRequest, given: Sequence[Change], since: str = "", until: str = "", **more: Any) -> HttpResponse:
    """given, since, until: to begin with. more: refused: why nothing was asked; or an answer."""
    rows = [*given, *[NONE] * CHANGES][: max(CHANGES, len(given))]
    shown = {"rows": rows, "limits": LIMITS, "since": since, "until": until, **more}
    return live.page(request, "what_if", "What if", (), shown, every=0)


def _given(changes: Mapping[str, Any]) -> Iterator[Change]:
    for kind, named in changes.items():
        for name, limits in named.items():
            for limit, value in limits.items():
                yield kind, name, limit, "none" if value is None else value
