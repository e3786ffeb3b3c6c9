"""The frame of the operators' pages, around their live regions: the menu, and the conditions that hold."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import Error
from django.http import HttpRequest, HttpResponse

from jobs.conf import settings
from jobs.console.ops.shared import snapshot
from jobs.console.ops.shared.access import frame, menu, rights
from jobs.console.ops.shared.incident import told
from jobs.console.ops.shared.snapshot import Snapshot
from jobs.pages import regions as live_regions
from jobs.pages.cached import CONDITIONS_SECONDS, cached
from jobs.reading.health import Condition, Facts, chains, conditions, look
from plumbing.names import named

EVERYWHERE = ("pages", "alarm")  # regions of all pages
# The pages that list causes with their consequences, and how many of each; the others have the bar, with the first one.
LISTED = {"overview": (6, 8), "health": (200, 200)}
# Pages whose regions show kept values alone, so that viewers share them. Operators leave the overview open.
FOR_ALL = {"overview"}
SHARED = {*EVERYWHERE, "old", "ended", "waited", "heat", "changes"}  # regions whose template several pages use
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
    known = known_now(present) if request.user.has_perm(named("jobs.view_worker")) else None
    holding = conditions(known) if known else None
    if holding is not None and name != "health":  # which alone tells of those that harm no job
        holding = [condition for condition in holding if condition.severity != "info"]
    found = chains(holding or ())
    shown, consequences = LISTED.get(name, (1, 0))
    entries = menu(request, _counts(present, holding, known))
    frame_context = {"menu": entries, **frame(request, title)}
    whole = {"snapshot": present, "now": present.now, "conditions": holding, **context, **frame_context}
    whole |= {"chains": told(request, found[:shown], known, consequences) if known else []}
    whole |= {"more_chains": max(len(found) - shown, 0), "on_site": bool(settings.JOBS_DOCS_URL)}
    everywhere = EVERYWHERE[:1] if name in LISTED else EVERYWHERE
    paths = [f"jobs/ops/{'shared' if region in SHARED else name}/{region}" for region in (*regions, *everywhere)]
    alike = rights(request.user) if name in FOR_ALL else None
    return live_regions.page(request, f"jobs/ops/{name}/page", paths, whole, {"every": every, "ask": ask}, rights=alike)


def _counts(present: Snapshot, holding: Sequence[Condition] | None, known: Facts | None) -> dict[str, str]:
    """Return the numbers beside the entries of the menu: dead letters, conditions that harm jobs, failing webhooks."""
    dead = present.counts.dead if present.counts else 0
    harmful = sum(condition.severity != "info" for condition in holding or ())
    signs = {"dead": f"{dead:,}{'+' if dead >= snapshot.MAX_COUNT else ''}" if dead else ""}
    failing = known.webhooks.failing if known else 0
    return signs | {"health": str(harmful) if harmful else "", "webhooks": f"{failing:,}" if failing else ""}


def known_now(present: Snapshot) -> Facts | None:
    """Return the facts with the work of a snapshot, so that conditions and tables of a page have the same numbers.

    Without these, if the last look at the work failed. None if the database did not answer in time.
    """
    known = facts()
    if known is None or snapshot.WORK in present.old:
        return known
    server = replace(known.server, now=present.now)
    return replace(known, lanes=present.lanes, queues=present.queues, workers=present.workers, server=server)


@cached(CONDITIONS_SECONDS, before=None)
def facts() -> Facts | None:
    """Read the facts that decide whether anything is wrong; None if the database does not answer in time."""
    try:
        return look()
    except Error:  # not `waits`: viewers would wait in the threads that the requests of tenants need
        return None
