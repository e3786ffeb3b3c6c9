"""The frame of the operators' pages, around their live regions: the menu, and what is wrong."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import Error
from django.http import HttpRequest, HttpResponse

from jobs.console.ops import looks, snapshot
from jobs.console.ops.access import frame, menu
from jobs.console.ops.snapshot import Snapshot
from jobs.pages import regions as live_regions
from jobs.pages.cached import cached
from jobs.reading.health import Condition, Facts, conditions, look
from tenants.names import named

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
    """The page `jobs/ops/<name>.html` with its regions, or the changed ones of them.

    shown: with the snapshot that it is of, if that is not the last one.
    every: seconds between two questions of the script; 0: the page is not live. ask: the query that the script asks
    with, if it is not the page's own.
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
    """What somebody should look at."""
    dead = seen.counts.dead if seen.counts else 0
    signs = {"dead": f"{dead:,}{'+' if dead >= looks.MAX_COUNT else ''}" if dead else ""}
    return signs | {"health": str(len(hold)) if hold else ""}


@cached(CONDITIONS_SECONDS, before=None)
def facts() -> Facts | None:
    """What tells whether anything is wrong. None if the database has not answered in time: nobody knows."""
    try:
        return look()  # not the snapshot: what rests there is old, and its parts are of different moments
    except Error:  # and not `waits`: the requests of tenants share the threads that viewers would wait in
        return None
