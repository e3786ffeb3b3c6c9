"""Pause, resume and run a schedule."""

from collections.abc import Callable, Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse

from jobs.calls.refusals import InvalidRequest, TooManyWaiting, Undecided
from jobs.console.ops.access import action_for
from jobs.console.ops.answers import done, refused
from jobs.engine.schedules import change
from jobs.models import Schedule

VERBS: Mapping[str, tuple[Callable[[Schedule], Any], str]] = {
    "pause": (change.pause, "Paused"),
    "resume": (change.resume, "Resumed"),
    "run": (change.run_now, "Ran"),
}


@action_for("jobs.change_schedule")
def act(request: HttpRequest, pk: int) -> HttpResponse:
    """`verb`: pause, resume or run."""
    verb, did = VERBS.get(request.POST.get("verb", ""), (None, ""))
    schedule = Schedule.objects.filter(pk=pk).first()
    if schedule is None:
        raise Http404
    if verb is None:
        return refused(request, f"verb: must be one of {', '.join(VERBS)}.")
    try:
        verb(schedule)
    except (InvalidRequest, TooManyWaiting, Undecided) as error:
        return refused(request, f"{schedule.name}: {error}.")
    except Schedule.DoesNotExist:
        raise Http404 from None  # somebody deleted it meanwhile
    return done(request, f"{did} {schedule.name}.")
