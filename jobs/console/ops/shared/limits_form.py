"""The form of the limits of a tenant or a queue: change them, pause or resume it, or ask what they would have done.

Only the fields of the form are changed.
"""

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import transaction
from django.forms import ModelForm, Select, modelform_factory
from django.http import HttpRequest, HttpResponse

from jobs.calls.refusals import by_field
from jobs.console.operations.limit_forms import KnownNames
from jobs.console.operations.limits import RATE, Kind, Limit
from jobs.console.operations.questions import question_address
from jobs.console.ops.shared.answers import done, refused
from jobs.console.ops.shared.tags import setting
from jobs.engine.verbs import limits
from jobs.models import Queue
from jobs.pages.answers import SeeOther
from tenants.models import TenantQueue

# Not a checkbox: a browser does not send an unticked one, so it would look like a field that the form lacks.
YES_OR_NO = ((True, "yes"), (False, "no"))


def form_of(row: Queue | TenantQueue, table: Sequence[Limit], data: Any = None) -> "ModelForm[Any]":
    """Return the form of these limits.

    data: the sent values; None for an unsent form. Limits without a value stay as they are. So do limits whose value
        is still the one that the page showed: another operator may have changed them meanwhile.
    """
    switches: dict[str, Any] = {limit.name: Select(choices=YES_OR_NO) for limit in table if limit.kind is Kind.SWITCH}
    form = modelform_factory(type(row), KnownNames, fields=[limit.name for limit in table], widgets=switches)
    for limit in table:
        form.base_fields[limit.name].widget.attrs["placeholder"] = limit.unset.rstrip(".")
        form.base_fields[limit.name].show_hidden_initial = data is None  # or compare with the row
    unsent = form(instance=row, auto_id=False)  # a page may have many
    if data is None:
        return unsent
    changed = {name for name, value in data.items() if value != data.get(unsent.add_initial_prefix(name))}
    if not changed.isdisjoint(RATE):
        changed |= data.keys() & set(RATE)
    return form({field.name: field.value() for field in unsent} | {name: data[name] for name in changed}, instance=row)


def change_limits(
    request: HttpRequest, row: Queue | TenantQueue, table: Sequence[Limit], name: str, subject: tuple[str, str]
) -> HttpResponse:
    """Change the limits of a locked row, or ask what they would do; return to the page that asked.

    subject: kind and name of the row in a what-if question
    """
    form = form_of(row, table, request.POST)
    if not form.is_valid():
        return _unchanged(request, f"{name}: {_errors(form)}")
    values = {field: form.cleaned_data[field] for field in form.changed_data}
    if "what_if" in request.POST:
        if not (page := question_address(*subject, values)):
            return _unchanged(request, f"{name}: what-if is not installed here (jobs.insight).")
        transaction.set_rollback(True)
        return SeeOther(page)
    if not values:
        return _unchanged(request, f"{name}: nothing was changed.")
    limits.change(row, values)
    if values.keys() == {"paused"}:
        return done(request, f"{name} is {'paused' if values['paused'] else 'resumed'}.")
    titles = {field: row._meta.get_field(field).verbose_name for field in values}  # type: ignore[union-attr]  # all plain
    changes = (f"{title} {_text(form.initial[field])} → {_text(values[field])}" for field, title in titles.items())
    return done(request, f"{name}: {', '.join(changes)}.")


def _unchanged(request: HttpRequest, why: str) -> HttpResponse:
    transaction.set_rollback(True)  # a tenant without a row does not get one
    return refused(request, why)


def _errors(form: "ModelForm[Any]") -> str:
    messages = by_field(ValidationError(form.errors.as_data()))
    return " ".join(f"{'' if field == NON_FIELD_ERRORS else f'{field}: '}{text}" for field, text in messages.items())


def _text(value: Any) -> str:
    return "none" if value in (None, [], {}) else setting(value)
