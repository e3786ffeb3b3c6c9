"""The actions of an operator on selected schedules. Each reports its outcome."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from jobs.calls.refusals import InvalidRequest, TooManyWaiting, Undecided
from jobs.engine.schedules import change
from jobs.models import Schedule

MAX_NAME = 60  # characters of a name in a message


def _action(verb: Callable[[Schedule], Any], description: str, did: str) -> Callable[..., None]:
    @admin.action(description=description, permissions=["operate"])
    def action(page: "admin.ModelAdmin[Any]", request: HttpRequest, schedules: QuerySet[Schedule]) -> None:
        done = 0
        for schedule in schedules:
            try:
                verb(schedule)
            except (InvalidRequest, TooManyWaiting, Undecided) as refused:
                page.message_user(request, f"{schedule.name[:MAX_NAME]}: {refused}.", messages.WARNING)
            except Schedule.DoesNotExist:
                continue  # somebody else was faster
            else:
                done += 1
        if done:
            count = "1 schedule" if done == 1 else f"{done} schedules"
            page.message_user(request, f"{did} {count}.", messages.SUCCESS)

    action.__name__ = verb.__name__
    return action


ACTIONS = [
    _action(change.pause, "Pause: no due times until it is resumed", "Paused"),
    _action(change.resume, "Resume: due again from now on", "Resumed"),
    _action(change.run_now, "Run now: submit one extra job", "Ran"),
]
