"""Jobs: search them, newest first; each page reads a bounded number."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from jobs import listing
from jobs.calls.request import InvalidRequest
from jobs.dashboard import live, looks, snapshot, terms
from jobs.dashboard.access import page_for
from jobs.dashboard.snapshot import Snapshot
from jobs.listing import LOOK, Page
from jobs.queries import LARGEST_ID

A_PAGE = 50
EVERY = 5  # seconds


@page_for("jobs.view_job")
def show(request: HttpRequest) -> HttpResponseBase:
    """`q`: the search, `before`: only jobs with lower ids."""
    seen = snapshot.current()
    typed = request.GET.get("q", "").strip()
    wrong, page = "", Page([], None)
    before = _before(request.GET.get("before"))
    if request.headers.get("Live") is None:  # only the numbers are live: rows never move by themselves
        try:
            sought = terms.read(typed, seen.now)
            if sought.job_id is not None:
                return redirect("ops:job", sought.job_id)
            page = listing.page(sought.chosen, A_PAGE, tenant=sought.tenant, status=sought.status, before=before)
        except InvalidRequest as refused:
            wrong = f"{refused.message[:1].upper()}{refused.message[1:]}."
    shown = {
        "snapshot": seen,
        "q": typed,
        "wrong": wrong,
        "page": page,
        "before": before,
        "look": LOOK,
        "numbers": _numbers(seen),
    }
    return live.page(request, "jobs", "Jobs", ("old", "numbers"), shown, every=EVERY)


def _numbers(seen: Snapshot) -> list[tuple[str, str, str]]:
    """(status, number, sign that there are more) for the statuses that are counted; the others have no number."""
    most = looks.MOST
    counts = seen.counts
    counted = {
        "created": seen.waiting,
        "scheduled": counts.scheduled if counts else 0,
        "held": counts.held if counts else 0,
        "queued": sum(one.held for one in seen.held if one.worker is None),
        "running": sum(one.held for one in seen.held if one.worker is not None),
        "dead": counts.dead if counts else 0,
    }
    signs = {name: "+" if name != "created" and number >= most else "" for name, number in counted.items()}
    known = [(name, f"{number:,}", signs[name]) for name, number in counted.items()]
    return [*known, *((name, "", "") for name in ("success", "error", "cancelled"))]


def _before(text: str | None) -> int | None:
    if not text or not text.isascii() or not text.isdecimal() or len(text) > terms.DIGITS:
        return None
    return min(int(text), LARGEST_ID)
