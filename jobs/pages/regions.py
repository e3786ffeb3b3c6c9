"""Pages of live regions.

The script asks for the same address with the versions that it has, `Live: pools=ab12cd`. It gets only the regions that
changed, or 204 if none did. It gets 403 if another user has logged in since, or the user chose another tenant. Then it
reloads the page, whose frame and regions would else belong to different users or tenants.

Many viewers ask every two seconds for the same. So the regions of a page that shows only kept values are rendered once
for all viewers who may see the same, until one of the values is read again.
"""

import re
from collections.abc import Hashable, Iterable, Mapping
from hashlib import blake2b
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from jobs.pages import cached
from plumbing.rendering import rendered

# Spaces beside a tag. Values in a template are escaped, and so have no tags. Each run of spaces is read once, from its
# beginning: a tenant may have typed a million of them.
# The pattern begins with a newline: Python finds one character ten times as fast as a class of characters.
INDENT = re.compile(r"\n(?<!\s\n)(?:\s++(?=[<>])|(?<=>\n)\s++)")
HEAVY = 100_000  # characters; for each full number of these in the regions, the script waits one more interval
PLACE = "\x00csrf\x00"  # replaced after the version is computed: Django masks the token anew at each request
MAX_SHARED = 50  # sets of regions that are kept for other viewers
Rendered = Mapping[str, tuple[str, SafeString]]  # the version and the HTML of each region
_shared: dict[Hashable, tuple[tuple[int, ...], Rendered]] = {}  # with the reads that they are made of


def page(
    request: HttpRequest,
    template: str,
    regions: Iterable[str],
    shown: Mapping[str, Any],
    frame: Mapping[str, Any],
    *,
    rights: Hashable = None,
) -> HttpResponse:
    """Return the page `<template>.html` with its regions, or only the regions that changed.

    regions: paths of templates, without ".html"; a region is named by the last part of its path.
    shown: the context of page and regions.
    frame: further context, for the page outside of the regions.
    rights: viewers with equal ones share the regions, which depend on nothing else but the address, and on values that
    were read while `cached.noting`. None: each viewer has its own.
    """
    whose = _version(f"{request.user.pk} {getattr(shown.get('tenant'), 'pk', '')}")
    if (known := request.headers.get("Live")) is not None:
        return _changed(request, _rendered_for_all(request, regions, shown, rights), known, whose)
    rendered = _rendered(request, regions, shown)
    whole = {region: _with_token(request, html) for region, (_, html) in rendered.items()}
    asking = {**frame, "every": frame["every"] * (1 + sum(map(len, whole.values())) // HEAVY)}
    return HttpResponse(_render(request, template, {**shown, **asking, "regions": whole, "whose": whose}))


def _rendered(request: HttpRequest, regions: Iterable[str], shown: Mapping[str, Any]) -> Rendered:
    return {path.rpartition("/")[2]: _region(request, path, shown) for path in regions}


def _rendered_for_all(
    request: HttpRequest, regions: Iterable[str], shown: Mapping[str, Any], rights: Hashable
) -> Rendered:
    """Return what another viewer with these rights got at this address, if it was made of the same reads."""
    if rights is None:
        return _rendered(request, regions, shown)
    address, reads = (request.get_full_path(), rights), cached.serials()
    had, rendered = _shared.get(address, ((), {}))
    if had != reads:
        rendered = _rendered(request, regions, shown)
        if len(_shared) >= MAX_SHARED:
            _shared.clear()
        _shared[address] = reads, rendered
    return rendered


def _region(request: HttpRequest, path: str, shown: Mapping[str, Any]) -> tuple[str, SafeString]:
    """Return the version of a region, and its HTML without the token."""
    region = path.rpartition("/")[2]
    html = _render(request, path, {**shown, "csrf_token": PLACE})
    version = _version(html)
    wrapped = format_html(
        '<section class="region" id="{0}" data-region="{0}" data-v="{1}">{2}</section>', region, version, html
    )
    return version, wrapped


def _version(text: str) -> str:
    return blake2b(text.encode(), digest_size=6).hexdigest()


def _render(request: HttpRequest, path: str, context: Mapping[str, Any]) -> SafeString:
    """Return the HTML of a template without its indentation, which would be a fifth of a list of jobs."""
    html = rendered(request, f"{path}.html", context)
    return mark_safe(INDENT.sub("\n", html))  # noqa: S308 - it came from a template


def _changed(request: HttpRequest, rendered: Rendered, known: str, whose: str) -> HttpResponse:
    had = dict(pair.split("=", 1) for pair in known.split() if "=" in pair)
    if had.get("whose", whose) != whose:
        return HttpResponse(status=403)
    changed = [_with_token(request, html) for name, (version, html) in rendered.items() if had.get(name) != version]
    return HttpResponse("".join(changed)) if changed else HttpResponse(status=204)


def _with_token(request: HttpRequest, html: str) -> SafeString:
    """Return the HTML with the token of this request; templates have escaped the rest of it."""
    text = html.replace(PLACE, get_token(request)) if PLACE in html else html
    return mark_safe(text)  # noqa: S308 - it came from a template, and the token is of letters and digits
