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


@admin.action(description="Pause: no due times until it is resumed", permissions=["operate"])
def pause(page: "admin.ModelAdmin[Any]", request: HttpRequest, schedules: QuerySet[Schedule]) -> None:
    _each(page, request, schedules, change.pause, "Paused")


@admin.action(description="Resume: due again from now on", permissions=["operate"])
def resume(page: "admin.ModelAdmin[Any]", request: HttpRequest, schedules: QuerySet[Schedule]) -> None:
    _each(page, request, schedules, change.resume, "Resumed")


@admin.action(description="Run now: submit one extra job", permissions=["operate"])
def run_now(page: "admin.ModelAdmin[Any]", request: HttpRequest, schedules: QuerySet[Schedule]) -> None:
    _each(page, request, schedules, change.run_now, "Ran")


def _each(
    page: "admin.ModelAdmin[Any]",
    request: HttpRequest,
    schedules: QuerySet[Schedule],
    verb: Callable[[Schedule], Any],
    did: str,
) -> None:
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
