"""A page with a form: what is created, or a record that is changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.forms import BaseForm, BoundField
from django.http import HttpRequest, HttpResponse

from jobs.console.operations.limits import Limit, grouped
from jobs.console.ops.shared import live

UNFIT = 422  # the status of a form with errors


@dataclass(frozen=True)
class Part:
    """A part of a form, with a heading; "" for the first part, which is open."""

    title: str
    fields: Sequence[BoundField]

    @property
    def faulty(self) -> bool:
        return any(field.errors for field in self.fields)


def parts(form: BaseForm, titled: Mapping[str, Sequence[str]]) -> list[Part]:
    """Return the parts of a form by their titles and the names of their fields."""
    return [Part(title, [form[name] for name in names]) for title, names in titled.items() if names]


def limit_parts(form: BaseForm, table: Sequence[Limit], first: Sequence[str] = ()) -> list[Part]:
    """Return the parts of a form of limits: first these fields with the limits of the share, then each other group."""
    known = [limit for limit in table if limit.name in form.fields]
    groups = grouped(known)
    return parts(form, {"": [*first, *groups.pop("Share", []), *groups.pop("")], **groups})


def form_page(
    request: HttpRequest,
    title: str,
    *,
    address: str,
    forms: Sequence[BaseForm],
    shown: Sequence[Part],
    button: str,
    preview: str = "",
) -> HttpResponse:
    """Render the page; with the status 422 if a form has errors.

    address: where the form is posted
    preview: the name of a button that stores nothing; "" for none
    """
    errors = [str(error) for form in forms for error in form.non_field_errors()]
    several = {"address": address, "parts": shown, "errors": errors, "button": button, "preview": preview}
    context: dict[str, Any] = {**several, "faulty": any(form.errors for form in forms)}
    page = live.page(request, "records", title, (), context, every=0)
    page.status_code = UNFIT if context["faulty"] else 200
    return page
