"""The frame of the operators' pages, around their live regions: the menu, and the conditions that hold."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import Error
from django.http import HttpRequest, HttpResponse

from jobs.console.ops import present_queries, snapshot
from jobs.console.ops.access import frame, menu
from jobs.console.ops.snapshot import Snapshot
from jobs.pages import regions as live_regions
from jobs.pages.cached import cached
from jobs.reading.health import Condition, Facts, conditions, look
from plumbing.names import named

EVERYWHERE = ("pages", "alarm")  # regions of all pages
SHARED = {*EVERYWHERE, "old", "ended", "waited", "changes"}  # regions whose template several pages use
CONDITIONS_SECONDS = 10.0
REFRESH_SECONDS = 2  # between two questions of a page, unless it says otherwise


def page(
    request: HttpRequest,
    name: str,
    title: str,
    regions: Iterable[str],
    shown: Mapping[str, Any],
    *,
    every: int = REFRESH_SECONDS,
    ask: str = "",
) -> HttpResponse:
    """Render the page `jobs/ops/<name>.html` with its regions; or only its changed regions, if the script asks.

    shown: the context; it may contain the snapshot of the page, by default the last one
    every: seconds between two requests of the script, or 0 for a page that is not live
    ask: the query of these requests, if it is not that of the page
    """
    seen = snapshot.current()
    known = facts() if request.user.has_perm(named("jobs.view_worker")) else None
    hold = [one for one in conditions(known) if one.severity != "info"] if known else None
    counted = menu(request, _counts(seen, hold))
    context = {"snapshot": seen, "now": seen.now, "conditions": hold, **shown, "menu": counted, **frame(request, title)}
    everywhere = EVERYWHERE if name != "health" else EVERYWHERE[:1]  # Health lists all conditions
    paths = [f"jobs/ops/{'everywhere' if region in SHARED else name}/{region}" for region in (*regions, *everywhere)]
    asking = {"every": every, "ask": ask}
    return live_regions.page(request, f"jobs/ops/{name}", paths, context, asking)


def _counts(seen: Snapshot, hold: Sequence[Condition] | None) -> dict[str, str]:
    """Return the numbers beside the entries of the menu: of dead letters, and of conditions."""
    dead = seen.counts.dead if seen.counts else 0
    signs = {"dead": f"{dead:,}{'+' if dead >= present_queries.MAX_COUNT else ''}" if dead else ""}
    return signs | {"health": str(len(hold)) if hold else ""}


@cached(CONDITIONS_SECONDS, before=None)
def facts() -> Facts | None:
    """Read the facts that decide whether anything is wrong; None if the database does not answer in time."""
    try:
        return look()  # not the snapshot: its resting parts are old, and of different moments
    except Error:  # and not `waits`: viewers would wait in the threads that the requests of tenants need
        return None
