"""Forms of the pages, with the token that they need and their way back; fields to choose; and query strings."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.forms import Select
from django.http import QueryDict
from django.shortcuts import resolve_url
from django.template import Context
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

HIDDEN = '<input type="hidden" name="{}" value="{}">'


def post(
    context: Context,
    content: str,
    to: str = "",
    *args: Any,
    kind: str = "",
    then: str = "",
    fields: Mapping[str, str] | None = None,
    **more: Any,
) -> SafeString:
    """A form: `{% post "jobs_ops:drain" worker.id kind="inline" %}<button>Drain</button>{% endpost %}`.

    to, args: the view or the address that gets it. "": its buttons have addresses.
    kind: CSS classes.
    then: the page after it. "": this one.
    fields, more: hidden fields.
    """
    back = then or context["request"].get_full_path()
    hidden = {"csrfmiddlewaretoken": context["csrf_token"], "next": back, **(fields or {}), **more}
    return format_html(
        '<form{}{} method="post">{}{}</form>',
        format_html(' class="{}"', kind) if kind else "",
        format_html(' action="{}"', resolve_url(to, *args)) if to else "",
        format_html_join("", HIDDEN, hidden.items()),
        content,
    )


def select(name: str, options: Iterable[Any], chosen: Any = "") -> SafeString:
    """A field to choose one of these: `{% select "sort" sorts sort %}`.

    options: values, or Django's choices.
    """
    choices = [one if isinstance(one, tuple) else (one, one) for one in options]
    return Select(choices=choices).render(name, chosen)


def query_with(given: QueryDict, **changes: Any) -> str:
    """Return the query string with some parameters changed, or removed by None."""
    query = given.copy()
    for name, value in changes.items():
        if value is None:
            query.pop(name, None)
        else:
            query[name] = value
    return f"?{query.urlencode()}"
