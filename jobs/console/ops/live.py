"""The frame of the operators' pages, around their live regions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse

from jobs.console.ops import alarms, looks, snapshot
from jobs.console.ops.access import frame
from jobs.console.ops.menu import menu
from jobs.console.ops.snapshot import Snapshot
from jobs.pages import regions as live_regions
from jobs.reading.health import Condition
from tenants.names import named

EVERYWHERE = ("jobs/ops/everywhere/pages", "jobs/ops/everywhere/alarm")  # regions of all pages
EVERY = 2  # seconds between two questions of a page, unless it says otherwise


def page(
    request: HttpRequest,
    name: str,
    title: str,
    regions: Iterable[str],
    shown: Mapping[str, Any],
    *,
    every: int = EVERY,
    ask: str = "",
) -> HttpResponse:
    """The page `jobs/ops/<name>.html` with its regions, or the changed ones of them.

    every: seconds between two questions of the script; 0: the page is not live. ask: the query that the script asks
    with, if it is not the page's own.
    """
    seen = snapshot.current()
    known = alarms.current() if request.user.has_perm(named("jobs.view_worker")) else None
    conditions = known.conditions if known else None
    counted = menu(request, _counts(seen, conditions))
    context = {"now": seen.now, "conditions": conditions, **shown, "menu": counted, **frame(request, title)}
    everywhere = EVERYWHERE if name != "health" else EVERYWHERE[:1]  # Health lists all conditions
    paths = [f"jobs/ops/{name}/{region}" for region in regions]
    asking = {"every": every, "ask": ask}
    return live_regions.page(request, f"jobs/ops/{name}", [*paths, *everywhere], context, asking)


def _counts(seen: Snapshot, conditions: Sequence[Condition] | None) -> dict[str, str]:
    """What somebody should look at."""
    dead = seen.counts.dead if seen.counts else 0
    signs = {"dead": f"{dead:,}{'+' if dead >= looks.MOST else ''}" if dead else ""}
    return signs | {"health": str(len(conditions)) if conditions else ""}
