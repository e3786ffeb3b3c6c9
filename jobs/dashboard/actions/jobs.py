"""Cancel and revive chosen jobs."""

from collections.abc import Sequence
from typing import cast

from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from jobs.dashboard.access import action_for
from jobs.dashboard.answers import done, refused
from jobs.dashboard.letters import ids
from jobs.engine.cancel import Cancellation, cancel
from jobs.engine.revive import revive
from jobs.models import Job
from jobs.noting import note
from jobs.store import EVERY_TENANT

MOST = 100  # jobs that one form chooses


@action_for("jobs.change_job")
def cancel_jobs(request: HttpRequest) -> HttpResponse:
    """End waiting jobs, ask running jobs to stop."""
    chosen = sorted(set(ids(request.POST.getlist("ids"))))
    if wrong := _refusal(chosen):
        return refused(request, wrong)
    with transaction.atomic():
        outcomes = {pk: cancel(pk, tenant_id=EVERY_TENANT) for pk in chosen}
        of = {outcome: [pk for pk, came in outcomes.items() if came is outcome] for outcome in Cancellation}
        _note(request, of[Cancellation.CANCELLED], "Cancelled.")
        _note(request, of[Cancellation.REQUESTED], "Asked to stop.")
    said = (
        (Cancellation.CANCELLED, "Cancelled {}."),
        (Cancellation.REQUESTED, "Asked {} to stop: running until the code stops."),
        (Cancellation.TOO_LATE, "Too late for {}: already ended."),
    )
    told = " ".join(text.format(count_of_jobs(len(of[outcome]))) for outcome, text in said if of[outcome])
    return refused(request, told) if len(of[Cancellation.TOO_LATE]) == len(chosen) else done(request, told)


@action_for("jobs.change_job")
def revive_jobs(request: HttpRequest) -> HttpResponse:
    """Give jobs that ended badly a new series of attempts."""
    chosen = sorted(set(ids(request.POST.getlist("ids"))))
    if wrong := _refusal(chosen):
        return refused(request, wrong)
    with transaction.atomic():
        revived = [pk for pk in chosen if revive(pk, tenant_id=EVERY_TENANT)]
        _note(request, revived, "Revived.")
    left = len(chosen) - len(revived)
    skipped = f"Skipped {count_of_jobs(left)}: under way, or ended well." if left else ""
    if not revived:
        return refused(request, skipped)
    return done(request, f"Revived {count_of_jobs(len(revived))}. {skipped}".strip())


def _refusal(chosen: Sequence[int]) -> str:
    if not chosen:
        return "No job was chosen: tick the boxes of the jobs first."
    return f"{len(chosen):,} jobs were chosen; a form takes at most {MOST}." if len(chosen) > MOST else ""


def _note(request: HttpRequest, done_ids: Sequence[int], message: str) -> None:
    note(cast("User", request.user), list(Job.objects.filter(pk__in=done_ids).defer("args", "stats")), message)


def count_of_jobs(count: int) -> str:
    return "1 job" if count == 1 else f"{count:,} jobs"
