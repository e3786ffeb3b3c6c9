"""Ask what other limits would have done. Nothing is changed."""

from datetime import UTC, datetime

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from jobs.authoring.text import storable
from jobs.calls.refusals import InvalidRequest
from jobs.console.operations import what_if
from jobs.console.operations.what_if import Question
from jobs.console.ops.access import action_for
from jobs.console.ops.answers import sentence
from jobs.console.ops.views.what_if import form
from jobs.pages.answers import SeeOther

FIELDS = ("kind", "name", "limit", "value")


@action_for("tenants.view_tenantqueue")
def ask(request: HttpRequest) -> HttpResponse:
    """Then to the page of the answer. What cannot be asked is shown again, with the reason."""
    columns = [[storable(text).strip() for text in request.POST.getlist(name)] for name in FIELDS]
    given = [(kind, name, limit, value) for kind, name, limit, value in zip(*columns, strict=False) if name]
    times = {name: storable(request.POST.get(name, "")).strip() for name in ("since", "until")}
    try:
        since, until = (_moment(name, text) for name, text in times.items())
        question = Question.of(since, until, what_if.read(given), now=timezone.now())
        row = what_if.ask(question, request.user.get_username())
    except InvalidRequest as refused:
        return form(request, given, **times, refused=sentence(refused))
    return SeeOther(reverse("ops:what-if-answer", args=[row.pk]))


def _moment(name: str, text: str) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidRequest(name, "must be a date and time like 2030-01-31T14:00") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
