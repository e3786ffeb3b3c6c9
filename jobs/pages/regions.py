"""Pages of live regions. The script asks for the same address with the versions that it has, `Live: pools=ab12cd`,
and gets only the regions that changed; 204 if none did. 403: somebody else has logged in since, or chosen another
tenant: the script loads the page anew, whose frame would name the one while its regions show the other's.
"""

import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from tenants.rendering import rendered

# Beside a tag; what a template shows is escaped, and so has none. Each run of spaces is looked at once, from its begin:
# a tenant may have typed a million of them.
INDENT = re.compile(r"(?<!\s)[^\S\n]*+\n\s++(?=[<>])|(?<=>)\n\s++")
HEAVY = 100_000  # characters of regions: for each, the script waits once more before it asks again
PLACE = "\x00csrf\x00"  # put in after the version is computed: Django masks the token anew at each request


def page(
    request: HttpRequest, template: str, regions: Iterable[str], shown: Mapping[str, Any], frame: Mapping[str, Any]
) -> HttpResponse:
    """The page `<template>.html` with its regions, or the changed ones of them.

    regions: paths of templates, without ".html"; a region is named by the last part of its path. shown: the context of
    all; frame: more of it, for what is outside of the regions.
    """
    rendered = {path.rpartition("/")[2]: _region(request, path, shown) for path in regions}
    whose = _version(f"{request.user.pk} {getattr(shown.get('tenant'), 'pk', '')}")
    if (known := request.headers.get("Live")) is not None:
        return _changed(request, rendered, known, whose)
    whole = {region: _with_token(request, html) for region, (_, html) in rendered.items()}
    asking = {**frame, "every": frame["every"] * (1 + sum(map(len, whole.values())) // HEAVY)}
    return HttpResponse(_render(request, template, {**shown, **asking, "regions": whole, "whose": whose}))


def _region(request: HttpRequest, path: str, shown: Mapping[str, Any]) -> tuple[str, SafeString]:
    """The version of a region, and its HTML without the token."""
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
    """The HTML of a template without its indentation, which would be a fifth of a list of jobs."""
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
    """The HTML with the token of this request; templates have escaped the rest of it."""
    text = html.replace(PLACE, get_token(request)) if PLACE in html else html
    return mark_safe(text)  # noqa: S308 - it came from a template, and the token is of letters and digits
