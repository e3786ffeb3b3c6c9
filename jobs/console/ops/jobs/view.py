"""The page of jobs: search them, newest first; each page reads a bounded number."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from jobs.calls.refusals import InvalidRequest
from jobs.console.ops.jobs.suggestions import meant
from jobs.console.ops.shared import live, search_language, snapshot
from jobs.console.ops.shared.access import action_for, page_for
from jobs.console.ops.shared.answers import done, sentence
from jobs.console.ops.shared.job_sheet import MOST, file_of
from jobs.console.ops.shared.kept_searches import as_kept, keep, kept
from jobs.console.ops.shared.snapshot import Snapshot
from jobs.pages.forms import query_with
from jobs.pages.typed import number, texts
from jobs.reading import listing, queries, status_words
from jobs.reading.listing import MAX_LOOKED_AT, Page
from plumbing.bounds import LARGEST_ID
from plumbing.text import storable

A_PAGE = 50
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
        "meant": _meant(typed) if wrong and not asked_again else [],
        "may_be_kept": bool(typed and not wrong) and as_kept(typed) not in kept(request),
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


@page_for("jobs.view_job")
def sheet(request: HttpRequest) -> HttpResponse:
    """Answer with the jobs that match the search `q`, below the id `before`, as a file; a page shows what is wrong."""
    now, typed = snapshot.current().now, request.GET.get("q", "").strip()
    try:
        sought = search_language.read(typed, now)
    except InvalidRequest:
        return redirect(f"{reverse('jobs_ops:jobs')}{query_with(request.GET)}")
    before = number(request.GET.get("before", ""), LARGEST_ID - 1)
    return file_of("jobs", listing.page(sought, MOST, before=before).jobs, now)


@action_for("jobs.view_job")
def keep_search(request: HttpRequest) -> HttpResponse:
    """Keep the search `q` for this user; or, with `forget`, keep it no longer."""
    typed = as_kept(texts(request.POST, ("q",))["q"])
    search_language.read(typed, snapshot.current().now)
    others = [search for search in kept(request) if search != typed]
    forget = "forget" in request.POST or not typed
    answer = done(request, f"{'No longer kept' if forget else 'Kept'}: {typed}")
    keep(request, answer, others if forget else [typed, *others])
    return answer


def _chips(request: HttpRequest, typed: str) -> list[tuple[str, str]]:
    """Return each word of a search with the address of the search without it; nothing if it has too many words."""
    words = search_language.words(typed)
    if len(words) > search_language.MOST_WORDS:
        return []
    searches = [(word, " ".join(words[:n] + words[n + 1 :])) for n, word in enumerate(words)]
    return [(word, query_with(request.GET, q=without, before=None, upto=None)) for word, without in searches]


def _meant(typed: str) -> list[tuple[str, str, str]]:
    """Return what the words without a name may mean: each filter, a note, and the search with it instead of them."""
    bare = search_language.bare(storable(typed))
    filters = [word for word in search_language.words(typed) if word not in bare.split()]
    return [(word, note, " ".join([*filters, word])) for word, note in meant(bare)]


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
