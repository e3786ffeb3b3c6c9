"""Pages of live regions.

The script asks for the same address with the versions that it has, `Live: pools=ab12cd`. It gets only the regions that
changed, or 204 if none did. It gets 403 if another user has logged in since, or the user chose another tenant. Then it
reloads the page, whose frame and regions would else belong to different users or tenants.
"""

import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from plumbing.rendering import rendered

# Spaces beside a tag. Values in a template are escaped, and so have no tags. Each run of spaces is read once, from its
# beginning: a tenant may have typed a million of them.
# The pattern begins with a newline: Python finds one character ten times as fast as a class of characters.
INDENT = re.compile(r"\n(?<!\s\n)(?:\s++(?=[<>])|(?<=>\n)\s++)")
HEAVY = 100_000  # characters; for each full number of these in the regions, the script waits one more interval
PLACE = "\x00csrf\x00"  # replaced after the version is computed: Django masks the token anew at each request


def page(
    request: HttpRequest, template: str, regions: Iterable[str], shown: Mapping[str, Any], frame: Mapping[str, Any]
) -> HttpResponse:
    """Return the page `<template>.html` with its regions, or only the regions that changed.

    regions: paths of templates, without ".html"; a region is named by the last part of its path.
    shown: the context of page and regions.
    frame: further context, for the page outside of the regions.
    """
    rendered = {path.rpartition("/")[2]: _region(request, path, shown) for path in regions}
    whose = _version(f"{request.user.pk} {getattr(shown.get('tenant'), 'pk', '')}")
    if (known := request.headers.get("Live")) is not None:
        return _changed(request, rendered, known, whose)
    whole = {region: _with_token(request, html) for region, (_, html) in rendered.items()}
    asking = {**frame, "every": frame["every"] * (1 + sum(map(len, whole.values())) // HEAVY)}
    return HttpResponse(_render(request, template, {**shown, **asking, "regions": whole, "whose": whose}))


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


def _changed(
    request: HttpRequest, rendered: Mapping[str, tuple[str, SafeString]], known: str, whose: str
) -> HttpResponse:
    had = dict(pair.split("=", 1) for pair in known.split() if "=" in pair)
    if had.get("whose", whose) != whose:
        return HttpResponse(status=403)
    changed = [_with_token(request, html) for name, (version, html) in rendered.items() if had.get(name) != version]
    return HttpResponse("".join(changed)) if changed else HttpResponse(status=204)


def _with_token(request: HttpRequest, html: str) -> SafeString:
    """Return the HTML with the token of this request; templates have escaped the rest of it."""
    text = html.replace(PLACE, get_token(request)) if PLACE in html else html
    return mark_safe(text)  # noqa: S308 - it came from a template, and the token is of letters and digits
