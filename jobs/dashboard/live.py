"""Pages of live regions. The script asks for the same address with the versions that it has, `Live: pools=ab12cd`,
and gets only the regions that changed; 204 if none did.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from jobs.dashboard import alarms, looks, snapshot
from jobs.dashboard.access import theme
from jobs.dashboard.menu import menu
from jobs.dashboard.snapshot import Snapshot
from jobs.engine.health import Condition

EVERYWHERE = ("pages", "alarm")  # regions of all pages
EVERY = 2  # seconds between two questions of a page, unless it says otherwise
PLACE = "\x00csrf\x00"  # put in after the version is computed: Django masks the token anew at each request


def page(
    request: HttpRequest,
    name: str,
    title: str,
    regions: Iterable[str],
    shown: Mapping[str, Any],
    *,
    every: int = EVERY,
    asks: str = "",
) -> HttpResponse:
    """The page `dashboard/<name>.html` with its regions `dashboard/<name>/<region>.html`, or the changed ones of them.

    every: seconds between two questions of the script; 0: the page is not live. asks: the query that the script asks
    with, if it is not the page's own.
    """
    seen = snapshot.current()
    conditions = alarms.current() if request.user.has_perm("jobs.view_worker") else None
    context = {"now": seen.now, "conditions": conditions, **shown, "menu": menu(request, _counts(seen, conditions))}
    rendered = {region: _region(request, f"{name}/{region}", context) for region in regions}
    for region in EVERYWHERE if name != "health" else EVERYWHERE[:1]:  # Health lists them all
        rendered[region] = _region(request, f"everywhere/{region}", context)
    if (known := request.headers.get("Live")) is not None:
        return _changed(request, rendered, known)
    whole = {region: _with_token(request, html) for region, (_, html) in rendered.items()}
    return render(
        request,
        f"dashboard/{name}.html",
        {
            **context,
            "regions": whole,
            "title": title,
            "theme": theme(request),
            "every": every,
            "asks": asks,
        },
    )


def _counts(seen: Snapshot, conditions: Sequence[Condition] | None) -> dict[str, str]:
    """What somebody should look at."""
    dead = seen.counts.dead if seen.counts else 0
    signs = {"dead": f"{dead:,}{'+' if dead >= looks.MOST else ''}" if dead else ""}
    return signs | {"health": str(len(conditions)) if conditions else ""}


def _region(request: HttpRequest, path: str, context: Mapping[str, Any]) -> tuple[str, SafeString]:
    """The version of a region, and its HTML without the token."""
    region = path.rpartition("/")[2]
    html = render_to_string(f"dashboard/{path}.html", {**context, "csrf_token": PLACE}, request)
    version = blake2b(html.encode(), digest_size=6).hexdigest()
    wrapped = format_html(
        '<section class="region" id="{0}" data-region="{0}" data-v="{1}">{2}</section>', region, version, html
    )
    return version, wrapped


def _changed(request: HttpRequest, rendered: Mapping[str, tuple[str, SafeString]], known: str) -> HttpResponse:
    had = dict(pair.split("=", 1) for pair in known.split() if "=" in pair)
    changed = [_with_token(request, html) for name, (version, html) in rendered.items() if had.get(name) != version]
    return HttpResponse("".join(changed)) if changed else HttpResponse(status=204)


def _with_token(request: HttpRequest, html: str) -> SafeString:
    """The HTML with the token of this request; templates have escaped the rest of it."""
    text = html.replace(PLACE, get_token(request)) if PLACE in html else html
    return mark_safe(text)  # noqa: S308 - it came from a template, and the token is of letters and digits
