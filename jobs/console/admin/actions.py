"""The actions of an operator on selected jobs. Each reports its outcome."""

from collections.abc import Collection
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

from jobs.authoring.text import count_of_jobs
from jobs.engine import revive
from jobs.engine.audit import note
from jobs.engine.cancel import Cancellation, cancel
from jobs.models import Job
from jobs.store import EVERY_TENANT


@admin.action(description="Cancel: end waiting jobs, ask running jobs to stop", permissions=["operate"])
def cancel_jobs(page: "admin.ModelAdmin[Any]", request: HttpRequest, jobs: QuerySet[Job]) -> None:
    outcomes = [(job.pk, cancel(job.pk, tenant_id=EVERY_TENANT)) for job in jobs]
    of = {outcome: [pk for pk, came in outcomes if came is outcome] for outcome in Cancellation}
    cancelled, requested, late = (of[outcome] for outcome in Cancellation)
    _note(request, cancelled, "Cancelled.")
    _note(request, requested, "Asked to stop.")
    if cancelled:
        page.message_user(request, f"Cancelled {count_of_jobs(len(cancelled))}.", messages.SUCCESS)
    if requested:
        page.message_user(
            request, f"Asked {count_of_jobs(len(requested))} to stop: running until the code stops.", messages.INFO
        )
    if late:
        page.message_user(request, f"Too late for {count_of_jobs(len(late))}: already ended.", messages.WARNING)


@admin.action(description="Revive: start a new series of attempts", permissions=["operate"])
def revive_jobs(page: "admin.ModelAdmin[Any]", request: HttpRequest, jobs: QuerySet[Job]) -> None:
    chosen = [job.pk for job in jobs]
    revived = [pk for pk in chosen if revive.revive(pk, tenant_id=EVERY_TENANT)]
    _note(request, revived, "Revived.")
    others = "under way, ended well, or their arguments were erased"
    _tell(page, request, revived, chosen, verb="Revived", others=others)


@admin.action(description="Discard: remove from the dead letters for good", permissions=["operate"])
def discard_jobs(page: "admin.ModelAdmin[Any]", request: HttpRequest, jobs: QuerySet[Job]) -> None:
    chosen = [job.pk for job in jobs]
    discarded = [pk for pk in chosen if revive.discard(pk)]
    _note(request, discarded, "Discarded.")
    _tell(page, request, discarded, chosen, verb="Discarded", others="no longer dead")


def _tell(
    page: "admin.ModelAdmin[Any]", request: HttpRequest, done: list[int], chosen: list[int], *, verb: str, others: str
) -> None:
    left = [pk for pk in chosen if pk not in done]
    if done:
        page.message_user(request, f"{verb} {count_of_jobs(len(done))}.", messages.SUCCESS)
    if left:
        page.message_user(request, f"Skipped {count_of_jobs(len(left))}: {others}.", messages.WARNING)


def _note(request: HttpRequest, ids: Collection[int], message: str) -> None:
    """Log the action in the history of the jobs, not of their dead letters, which soon disappear."""
    note(cast("User", request.user), list(Job.objects.filter(pk__in=ids).defer("args", "stats")), message)
