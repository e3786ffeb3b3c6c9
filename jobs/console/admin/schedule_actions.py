"""The actions of an operator on selected schedules. Each reports its outcome."""

from collections.abc import Callable
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

from jobs.calls.refusals import InvalidRequest, TooManyWaiting, Undecided
from jobs.engine.audit import note, note_run
from jobs.engine.schedules import change
from jobs.models import Schedule

LONGEST = 60  # characters of a name in a message


@admin.action(description="Pause: no due times until it is resumed", permissions=["operate"])
def pause(page: "admin.ModelAdmin[Any]", request: HttpRequest, schedules: QuerySet[Schedule]) -> None:
    _each(page, request, schedules, change.pause, "Paused")


@admin.action(description="Resume: due again from now on", permissions=["operate"])
def resume(page: "admin.ModelAdmin[Any]", request: HttpRequest, schedules: QuerySet[Schedule]) -> None:
    _each(page, request, schedules, change.resume, "Resumed")


@admin.action(description="Run now: submit one extra job", permissions=["operate"])
def run_now(page: "admin.ModelAdmin[Any]", request: HttpRequest, schedules: QuerySet[Schedule]) -> None:
    for schedule in _each(page, request, schedules, change.run_now, "Ran"):
        note_run(schedule)


def _each(
    page: "admin.ModelAdmin[Any]",
    request: HttpRequest,
    schedules: QuerySet[Schedule],
    verb: Callable[[Schedule], Any],
    did: str,
) -> list[Schedule]:
    done = []
    for schedule in schedules:
        try:
            verb(schedule)
        except (InvalidRequest, TooManyWaiting, Undecided) as refused:
            page.message_user(request, f"{schedule.name[:LONGEST]}: {refused}.", messages.WARNING)
        except Schedule.DoesNotExist:
            continue  # somebody else was faster
        else:
            done.append(schedule)
    note(cast("User", request.user), done, f"{did}.")
    if done:
        count = "1 schedule" if len(done) == 1 else f"{len(done)} schedules"
        page.message_user(request, f"{did} {count}.", messages.SUCCESS)
    return done
