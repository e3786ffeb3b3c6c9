"""Change the limits of a tenant or a queue, pause or resume it, or ask what other limits would have done.

Only the fields of the form are changed.
"""

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import transaction
from django.forms import ModelForm, Select, modelform_factory
from django.http import HttpRequest, HttpResponse

from jobs.calls.refusals import by_field
from jobs.console.operations.limits import OF_QUEUE, OF_TENANT, RATE, Kind, Limit
from jobs.console.operations.questions import QUEUES, TENANTS, asked_at
from jobs.console.ops.access import action_for
from jobs.console.ops.answers import done, refused
from jobs.console.ops.tags import setting
from jobs.engine.verbs import limits
from jobs.models import Queue
from jobs.pages.answers import SeeOther, existing
from plumbing.text import storable
from tenants.models import TenantQueue
from tenants.tenant_model import tenant_of_slug

# Not a checkbox: a browser does not send an unticked one, so it would look like a field that the form lacks.
YES_OR_NO = ((True, "yes"), (False, "no"))


def form_of(row: Queue | TenantQueue, table: Sequence[Limit], data: Any = None) -> "ModelForm[Any]":
    """Return the form of these limits.

    data: the sent values; None for an unsent form. Limits without a value stay as they are. So do limits whose value
        is still the one that the page showed: another operator may have changed them meanwhile.
    """
    switches: dict[str, Any] = {limit.name: Select(choices=YES_OR_NO) for limit in table if limit.kind is Kind.SWITCH}
    form = modelform_factory(type(row), fields=[limit.name for limit in table], widgets=switches)
    for limit in table:
        form.base_fields[limit.name].widget.attrs["placeholder"] = limit.unset.rstrip(".")
        form.base_fields[limit.name].show_hidden_initial = data is None  # or compare with the row
    shown = form(instance=row, auto_id=False)  # a page may have many
    if data is None:
        return shown
    meant = {name for name, value in data.items() if value != data.get(shown.add_initial_prefix(name))}
    if not meant.isdisjoint(RATE):
        meant |= data.keys() & set(RATE)
    return form({field.name: field.value() for field in shown} | {name: data[name] for name in meant}, instance=row)


@action_for("tenants.change_tenantqueue")
@transaction.atomic
def change_tenant(request: HttpRequest, slug: str) -> HttpResponse:
    tenant = existing(tenant_of_slug(storable(slug)))
    return _change(request, limits.locked_slots(tenant), OF_TENANT, str(tenant), asked=(TENANTS, slug))


@action_for("jobs.change_queue")
@transaction.atomic
def change_queue(request: HttpRequest, name: str) -> HttpResponse:
    return _change(request, existing(limits.locked_queue(name)), OF_QUEUE, f"Queue {name}", asked=(QUEUES, name))


def _change(
    request: HttpRequest, row: Queue | TenantQueue, table: Sequence[Limit], name: str, asked: tuple[str, str]
) -> HttpResponse:
    """Change the limits of a row, or ask what they would do; return to the page that asked.

    asked: kind and name of the row in a what-if question
    """
    form = form_of(row, table, request.POST)
    if not form.is_valid():
        return _unchanged(request, f"{name}: {_why(form)}")
    if "what_if" in request.POST:
        transaction.set_rollback(True)
        return SeeOther(asked_at(*asked, {field: form.cleaned_data[field] for field in form.changed_data}))
    if not form.has_changed():
        return _unchanged(request, f"{name}: nothing was changed.")
    values = {field: form.cleaned_data[field] for field in form.changed_data}
    limits.change(row, values)
    if values.keys() == {"paused"}:
        return done(request, f"{name} is {'paused' if values['paused'] else 'resumed'}.")
    named = {field: row._meta.get_field(field).verbose_name for field in values}  # type: ignore[union-attr]  # all plain
    said = (f"{name} {_told(form.initial[field])} → {_told(values[field])}" for field, name in named.items())
    return done(request, f"{name}: {', '.join(said)}.")


def _unchanged(request: HttpRequest, why: str) -> HttpResponse:
    transaction.set_rollback(True)  # a tenant without a row does not get one
    return refused(request, why)


def _why(form: "ModelForm[Any]") -> str:
    told = by_field(ValidationError(form.errors.as_data()))
    return " ".join(f"{'' if field == NON_FIELD_ERRORS else f'{field}: '}{said}" for field, said in told.items())


def _told(value: Any) -> str:
    return "none" if value in (None, []) else setting(value)
