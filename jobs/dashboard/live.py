"""The frame of the operators' pages, around their live regions."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse

from jobs import regions as live_regions
from jobs.dashboard import snapshot
from jobs.dashboard.access import theme
from jobs.dashboard.menu import menu

EVERY = 2  # seconds between two questions of a page, unless it says otherwise


def page(
    request: HttpRequest, name: str, title: str, regions: Iterable[str], shown: Mapping[str, Any], *, every: int = EVERY
) -> HttpResponse:
    """The page `dashboard/<name>.html` with its regions, or the changed ones of them.

    every: seconds between two questions of the script; 0: the page is not live.
    """
    context = {"now": snapshot.current().now, **shown}
    frame = {"title": title, "menu": menu(request), "theme": theme(request), "every": every}
    return live_regions.page(request, f"dashboard/{name}", regions, context, frame)
