"""Render our templates, regardless of the order of the engines in the project's TEMPLATES."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from django.contrib.messages import get_messages
from django.http import HttpRequest, HttpResponse
from django.template import TemplateDoesNotExist, engines
from django.template.backends.django import DjangoTemplates
from django.template.context import make_context
from django.views.decorators.cache import cache_control

from plumbing import addresses

# For views: a project may cache the responses of its whole site, and the next request may be of another tenant.
kept_by_nobody = cache_control(private=True, no_store=True)


def page(request: HttpRequest, template: str, context: Mapping[str, Any], status: int = 200) -> HttpResponse:
    return HttpResponse(rendered(request, template, context), status=status)


def rendered(request: HttpRequest, template: str, context: Mapping[str, Any]) -> str:
    """Return the HTML of a template. Only engines of Django's templates render it: Jinja would refuse ours.

    Regardless of the project's settings, texts are escaped, and numbers have no separators: a job's number is part of
    addresses. Raises TemplateDoesNotExist.
    """
    around = {"request": request, "messages": get_messages(request), "logout": addresses.logout}
    for engine in _engines():
        try:
            loaded = engine.get_template(template)
        except TemplateDoesNotExist:
            continue
        bound = make_context({**around, **context}, request, autoescape=True)
        bound.use_l10n = False
        return loaded.template.render(bound)
    raise TemplateDoesNotExist(template)


def _engines() -> Iterator[DjangoTemplates]:
    """Yield the project's engines first, since they have its frame for our pages; then our own."""
    yield from (engine for engine in engines.all() if isinstance(engine, DjangoTemplates))
    yield _own_engine()


@cache
def _own_engine() -> DjangoTemplates:
    return DjangoTemplates({"NAME": "jobs", "DIRS": [], "APP_DIRS": True, "OPTIONS": {}})
