"""The frame of the operators' pages, around their live regions: the menu, and the conditions that hold."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import Error
from django.http import HttpRequest, HttpResponse

from jobs.console.ops.shared import snapshot
from jobs.console.ops.shared.access import frame, menu
from jobs.console.ops.shared.snapshot import Snapshot
from jobs.pages import regions as live_regions
from jobs.pages.cached import cached
from jobs.reading.health import Condition, Facts, conditions, look
from plumbing.names import named

EVERYWHERE = ("pages", "alarm")  # regions of all pages
SHARED = {*EVERYWHERE, "old", "ended", "waited", "heat", "changes"}  # regions whose template several pages use
CONDITIONS_SECONDS = 10.0
REFRESH_SECONDS = 2  # between two questions of a page, unless it says otherwise


def page(
    request: HttpRequest,
    name: str,
    title: str,
    regions: Iterable[str],
    context: Mapping[str, Any],
    *,
    every: int = REFRESH_SECONDS,
    ask: str = "",
) -> HttpResponse:
    """Render the page `jobs/ops/<name>/page.html` with its regions; or only its changed regions, if the script asks.

    context: the context; it may contain the snapshot of the page, by default the last one
    every: seconds between two requests of the script, or 0 for a page that is not live
    ask: the query of these requests, if it is not that of the page
    """
    present = snapshot.current()
    known = facts() if request.user.has_perm(named("jobs.view_worker")) else None
    holding = [condition for condition in conditions(known) if condition.severity != "info"] if known else None
    entries = menu(request, _counts(present, holding))
    frame_context = {"menu": entries, **frame(request, title)}
    whole = {"snapshot": present, "now": present.now, "conditions": holding, **context, **frame_context}
    everywhere = EVERYWHERE if name != "health" else EVERYWHERE[:1]  # Health lists all conditions
    paths = [f"jobs/ops/{'shared' if region in SHARED else name}/{region}" for region in (*regions, *everywhere)]
    return live_regions.page(request, f"jobs/ops/{name}/page", paths, whole, {"every": every, "ask": ask})


def _counts(present: Snapshot, holding: Sequence[Condition] | None) -> dict[str, str]:
    """Return the numbers beside the entries of the menu: of dead letters, and of conditions."""
    dead = present.counts.dead if present.counts else 0
    signs = {"dead": f"{dead:,}{'+' if dead >= snapshot.MAX_COUNT else ''}" if dead else ""}
    return signs | {"health": str(len(holding)) if holding else ""}


@cached(CONDITIONS_SECONDS, before=None)
def facts() -> Facts | None:
    """Read the facts that decide whether anything is wrong; None if the database does not answer in time."""
    try:
        return look()  # not the snapshot: its resting parts are old, and of different moments
    except Error:  # and not `waits`: viewers would wait in the threads that the requests of tenants need
        return None
