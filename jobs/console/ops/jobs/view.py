"""The page of jobs: search them, newest first; each page reads a bounded number."""

from datetime import datetime

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from jobs.calls.refusals import InvalidRequest
from jobs.console.ops.shared import live, search_language, snapshot
from jobs.console.ops.shared.access import page_for
from jobs.console.ops.shared.answers import sentence
from jobs.console.ops.shared.snapshot import Snapshot
from jobs.lifecycle import Status
from jobs.pages.forms import query_with
from jobs.pages.typed import number
from jobs.reading import listing, queries, status_words
from jobs.reading.listing import HELD, MAX_LOOKED_AT, Page
from plumbing.bounds import LARGEST_ID

A_PAGE = 50
MAX_OFFERED = 50  # queues
REFRESH_SECONDS = 5  # seconds


@page_for("jobs.view_job")
def show(request: HttpRequest) -> HttpResponseBase:
    """List the jobs that match a search.

    `q`: the search
    `before`: only jobs with lower ids
    `upto`: only jobs up to this id, the highest when the page was first rendered. Newer ones are counted. The script
        asks with it, so that rows never move by themselves.
    """
    present = snapshot.current()
    typed = request.GET.get("q", "").strip()
    before, upto = (number(request.GET.get(name, ""), LARGEST_ID - 1) for name in ("before", "upto"))
    asked_again = request.headers.get("Live") is not None
    wrong, page, newer = "", Page([], None), (0, False)
    try:
        if (pk := search_language.job_id(typed)) is not None:
            return redirect("jobs_ops:job", pk)
        sought = search_language.read(typed, present.now)
        if upto is None:
            upto = listing.newest()
        else:
            newer = listing.newer(sought, upto=upto)
        if not asked_again:
            page = listing.page(sought, A_PAGE, before=upto + 1 if before is None else min(upto + 1, before))
    except InvalidRequest as refused:
        wrong = sentence(refused)
    stays = query_with(request.GET, upto=upto)
    context = {
        "snapshot": present,
        "q": typed,
        "wrong": wrong,
        "chips": _chips(request, typed),
        "offers": _offers(typed, present),
        "page": page,
        "looked_since": _submitted(page),
        "before": before,
        "upto": upto,
        "newer": newer,
        "stays": f"{request.path}{stays}",
        "look": MAX_LOOKED_AT,
        "numbers": _numbers(present),
        "states": status_words.TABLE,
    }
    return live.page(request, "jobs", "Jobs", ("old", "numbers", "newer"), context, every=REFRESH_SECONDS, ask=stays)


def _chips(request: HttpRequest, typed: str) -> list[tuple[str, str]]:
    """Return each word of a search with the address of the search without it; nothing if it has too many words."""
    words = typed.split()
    if len(words) > search_language.MOST_WORDS:
        return []
    searches = [(word, " ".join(words[:n] + words[n + 1 :])) for n, word in enumerate(words)]
    return [(word, query_with(request.GET, q=without, before=None, upto=None)) for word, without in searches]


def _offers(typed: str, present: Snapshot) -> list[str]:
    """Return the searches that the field offers: the typed one with a status, a queue or another word added."""
    words = [f"status:{status}" for status in (*Status, HELD)] + ["retried:yes", "since:1h"]
    words += sorted(f"queue:{queue.name}" for queue in present.queues.values())[:MAX_OFFERED]
    return [f"{typed} {word}".strip() for word in words]


def _submitted(page: Page) -> datetime | None:
    """Return how far back a page looked, if it is not full: when the last job that it looked at was submitted."""
    if page.before is None or len(page.jobs) == A_PAGE:
        return None
    return queries.all_jobs().filter(pk=page.before).values_list("created_at", flat=True).first()


def _numbers(present: Snapshot) -> list[tuple[str, str, str]]:
    """Return each status, its number of jobs, and "+" if there are more; uncounted statuses have no number."""
    most = snapshot.MAX_COUNT
    counts = present.counts
    counted = {
        "created": present.waiting,
        "scheduled": counts.scheduled if counts else 0,
        "held": counts.held if counts else 0,
        "queued": sum(use.slots for use in present.in_use if use.worker is None),
        "running": sum(use.slots for use in present.in_use if use.worker is not None),
        "dead": counts.dead if counts else 0,
    }
    signs = {name: "+" if name != "created" and number >= most else "" for name, number in counted.items()}
    known = [(name, f"{number:,}", signs[name]) for name, number in counted.items()]
    return [*known, *((name, "", "") for name in ("blocked", "success", "error", "cancelled"))]
