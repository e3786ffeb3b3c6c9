"""The form to submit a job: a new one, or the call of another job with other arguments."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from jobs.calls import registry
from jobs.calls.refusals import InvalidRequest, TooManyWaiting, Undecided
from jobs.calls.request import LAST_PRIORITY
from jobs.console.operations.submitting import confirmation, submit_named
from jobs.console.ops.shared import live, snapshot
from jobs.console.ops.shared.access import action_for, page_for
from jobs.console.ops.shared.answers import done, sentence
from jobs.models import AnyJob
from jobs.pages import typed as typed_arguments
from jobs.pages.answers import SeeOther
from jobs.pages.typed import number, texts
from jobs.reading import listing, queries
from plumbing.names import named

DEFAULT = ("", "as the job type says")
FIELDS = ("tenant", "call", "object", "args", "queue", "priority", "user", "anyway")


@page_for("jobs.add_job")
def form(request: HttpRequest) -> HttpResponse:
    """Show the form.

    `call`: the name of a job type that is filled in
    `like`: the id of a job whose call is filled in, without masked values, if the user may see jobs
    """
    given = number(request.GET.get("like", "")) or 0
    like = queries.any_job(given) if request.user.has_perm(named("jobs.view_job")) else None
    return _page(request, texts(request.GET, ("call",)) if like is None else _call_of(like), like=like)


@action_for("jobs.add_job")
def submit(request: HttpRequest) -> HttpResponse:
    typed = texts(request.POST, FIELDS)
    try:
        submitted = submit_named(typed["tenant"], **_asked(typed))
    except (InvalidRequest, TooManyWaiting, Undecided) as error:
        wrong = sentence(error) if isinstance(error, InvalidRequest) else str(error)
        return _page(request, typed, wrong=wrong)
    done(request, confirmation(submitted))
    return SeeOther(reverse("jobs_ops:job", args=[submitted.id]))


def _asked(typed: dict[str, str]) -> dict[str, Any]:
    """Return the call and its options. Raises InvalidRequest."""
    source_type, _, method = typed["call"].rpartition(".")
    priority = typed["priority"]
    if priority and not (priority.isascii() and priority.isdecimal() and len(priority) <= len(str(LAST_PRIORITY))):
        raise InvalidRequest("priority", f"must be a whole number from 0 (first) to {LAST_PRIORITY} (last)")
    return {
        "source_type": source_type,
        "source_id": typed["object"] or None,
        "source_method": method,
        "args": typed_arguments.arguments(typed["args"]),
        "queue": typed["queue"] or None,
        "priority": int(priority) if priority else None,
        "user": typed["user"] or None,
        "dedup": False if typed["anyway"] else None,
    }


def _call_of(job: AnyJob) -> dict[str, str]:
    return {
        "tenant": job.tenant.jobs_slug,
        "call": listing.job_type(job),
        "object": job.source_id or "",
        "args": typed_arguments.shown(job),
        "queue": job.queue.name,
        "priority": str(job.priority),
        "user": job.user_key,
    }


def _page(request: HttpRequest, typed: dict[str, str], like: AnyJob | None = None, wrong: str = "") -> HttpResponse:
    present = snapshot.current()
    context = {
        "snapshot": present,
        "typed": typed,
        "like": like,
        "wrong": wrong,
        "calls": sorted(map(str, registry.targets())),
        "queues": [DEFAULT, *sorted(queue.name for queue in present.queues.values())],
        "priorities": [DEFAULT, *map(str, range(LAST_PRIORITY + 1))],
    }
    page = live.page(request, "new_job", "New job", (), context, every=0)
    page.status_code = 422 if wrong else 200
    return page
