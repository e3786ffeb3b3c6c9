"""Render our templates, in whatever order the project's TEMPLATES has its engines."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from django.contrib.messages import get_messages
from django.http import HttpRequest, HttpResponse
from django.template import TemplateDoesNotExist, engines
from django.template.backends.django import DjangoTemplates
from django.template.context import make_context
from django.views.decorators.cache import cache_control

from tenants import addresses

# For views: a project may keep the answers of its whole site, and the next who asks may be of another tenant.
kept_by_nobody = cache_control(private=True, no_store=True)


def page(request: HttpRequest, template: str, context: Mapping[str, Any], status: int = 200) -> HttpResponse:
    return HttpResponse(rendered(request, template, context), status=status)


def rendered(request: HttpRequest, template: str, context: Mapping[str, Any]) -> str:
    """The HTML of a template. Jinja, which another engine may speak, would refuse ours.

    Whatever the project has set, names are escaped, and a job's number has no separators: it goes into addresses.
    Raises TemplateDoesNotExist.
    """
    around = {"request": request, "messages": get_messages(request), "logout": addresses.logout}
    for engine in _engines():
        try:
            found = engine.get_template(template)
        except TemplateDoesNotExist:
            continue
        bound = make_context({**around, **context}, request, autoescape=True)
        bound.use_l10n = False
        return found.template.render(bound)
    raise TemplateDoesNotExist(template)


def _engines() -> Iterator[DjangoTemplates]:
    """The project's own come first: they have its frame for our pages."""
    yield from (engine for engine in engines.all() if isinstance(engine, DjangoTemplates))
    yield _own()


@cache
def _own() -> DjangoTemplates:
    return DjangoTemplates({"NAME": "jobs", "DIRS": [], "APP_DIRS": True, "OPTIONS": {}})
