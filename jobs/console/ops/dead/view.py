"""The page of dead letters: grouped by shape of error and job type, and the latest ones."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from jobs.calls.refusals import InvalidRequest
from jobs.console.ops.shared import live, snapshot
from jobs.console.ops.shared.access import page_for
from jobs.console.ops.shared.answers import sentence
from jobs.console.ops.shared.dead_groups import groups
from jobs.console.ops.shared.dead_letters import filters_of, matching
from jobs.console.ops.shared.job_sheet import MOST, file_of
from jobs.models import DeadLetter
from jobs.pages.forms import query_with
from jobs.reading import queries

A_PAGE = 50
SINCE = ("1h", "24h", "7d", "30d")  # the times that the filter `since` offers


@page_for("jobs.view_deadletter")
def show(request: HttpRequest) -> HttpResponse:
    """Show the dead letters that match the filters FILTERS of the address; `since` and `until` are about the death."""
    present = snapshot.current()
    filters = filters_of(request.GET)
    wrong, matches = "", DeadLetter.objects.none()
    try:
        matches = matching(filters, present.now)
    except InvalidRequest as refused:
        wrong = sentence(refused)
    latest = list(matches.defer("args", "stats")[: A_PAGE + 1])
    letters = [letter for letter in latest[:A_PAGE] if queries.is_whole(letter)]
    by_error, other_groups = groups(matches, present.now)
    regions = {
        "snapshot": present,
        "filters": filters,
        "wrong": wrong,
        "chips": [(f"{name}:{value}", query_with(request.GET, **{name: None})) for name, value in filters.items()],
        "offers": {
            "tenants": sorted({letter.tenant.jobs_slug for letter in letters}),
            "queues": sorted(queue.name for queue in present.queues.values()),
            "types": sorted({group.job_type for group in by_error}),
            "lengths": SINCE,
        },
        "groups": by_error,
        "other_groups": other_groups,
        "letters": letters,
        "more": len(latest) > A_PAGE,
        "upto": letters[0].died_at if letters else None,  # so that a selection has no letters that die later
    }
    return live.page(request, "dead", "Dead letters", ("letters",), regions, every=0)


@page_for("jobs.view_deadletter")
def sheet(request: HttpRequest) -> HttpResponse:
    """Answer with the dead letters that match the filters, the latest first, as a file; a page shows what is wrong."""
    now = snapshot.current().now
    try:
        letters = matching(filters_of(request.GET), now).defer("args", "stats")[:MOST]
    except InvalidRequest:
        return redirect(f"{reverse('jobs_ops:dead')}{query_with(request.GET)}")
    return file_of("dead-letters", letters, now)
