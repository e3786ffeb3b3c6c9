"""Change a limit of a tenant or a queue, or pause it. Only the fields of the form are changed."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, QueryDict

from jobs.console.ops.access import action_for
from jobs.console.ops.answers import done, refused
from jobs.engine import limits
from jobs.models import Queue
from tenants.models import TenantQueue
from tenants.tenant_model import all_tenants

LARGEST = 2**31 - 1  # of PostgreSQL's integer


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(LARGEST)) and int(text) <= LARGEST):
        raise ValueError("a whole number from 0")
    return int(text)


def _number_or_none(text: str) -> int | None:
    return _whole(text) if text else None


def _seconds_or_none(text: str) -> float | None:
    if not text:
        return None
    if not re.fullmatch(r"\d{1,10}(\.\d{1,10})?", text, re.ASCII):
        raise ValueError("a number of seconds")
    return float(text)


def _names(text: str) -> list[str]:
    """mail, critical: each once, in the order that was typed."""
    return list(dict.fromkeys(name for part in text.replace("\x00", "").split(",") if (name := part.strip())))


def _switch(text: str) -> bool:
    return text == "1"


Read = Callable[[str], Any]
OF_TENANT: Mapping[str, Read] = {
    "num_slots": _whole,
    "user_slots": _number_or_none,
    "weight": _whole,
    "max_waiting": _number_or_none,
    "history_days": _number_or_none,
    "queues": _names,
    "rate_limit": _number_or_none,
    "rate_window": _seconds_or_none,
    "paused": _switch,
}
OF_QUEUE: Mapping[str, Read] = {
    "weight": _whole,
    "concurrency": _number_or_none,
    "rate_limit": _number_or_none,
    "rate_window": _seconds_or_none,
    "paused": _switch,
}


@action_for("tenants.change_tenantqueue")
@transaction.atomic
def change_tenant(request: HttpRequest, slug: str) -> HttpResponse:
    tenant = all_tenants().filter(slug=slug).first()
    if tenant is None:
        raise Http404
    return _change(request, limits.locked_slots(tenant), OF_TENANT, str(tenant))


@action_for("jobs.change_queue")
@transaction.atomic
def change_queue(request: HttpRequest, name: str) -> HttpResponse:
    # no_key: a submit, which refers to the row, need not wait.
    row = Queue.objects.select_for_update(no_key=True).filter(name=name).first()
    if row is None:
        raise Http404
    return _change(request, row, OF_QUEUE, f"Queue {name}")


def _change(request: HttpRequest, row: Queue | TenantQueue, known: Mapping[str, Read], name: str) -> HttpResponse:
    try:
        values = {field: value for field, value in _read(request.POST, known).items() if getattr(row, field) != value}
        if not values:
            return _unchanged(request, f"{name}: nothing was changed.")
        was = {field: getattr(row, field) for field in values}
        with transaction.atomic():
            limits.change(row, values)
    except ValidationError as error:
        return _unchanged(request, f"{name}: {_why(error)}")
    said = ", ".join(f"{_label(row, field)} {_told(was[field])} → {_told(values[field])}" for field in values)
    return done(request, f"{name}: {said}.")


def _unchanged(request: HttpRequest, why: str) -> HttpResponse:
    transaction.set_rollback(True)  # nor does a tenant without a row get one
    return refused(request, why)


def _read(form: QueryDict, known: Mapping[str, Read]) -> dict[str, Any]:
    """The values of the form's known fields. Raises ValidationError by field."""
    values, wrong = {}, {}
    for field, read in known.items():
        if field in form:
            try:
                values[field] = read(str(form[field]).strip())
            except ValueError as error:
                wrong[field] = f"{form[field]!r} is not {error}."
    if wrong:
        raise ValidationError(wrong)
    return values


def _why(error: ValidationError) -> str:
    return " ".join(
        f"{'' if field == '__all__' else f'{field}: '}{' '.join(told)}" for field, told in error.message_dict.items()
    )


def _label(row: Queue | TenantQueue, field: str) -> str:
    return str(row._meta.get_field(field).verbose_name)  # type: ignore[union-attr]  # it is a plain field


def _told(value: Any) -> str:
    if value is None or value == []:
        return "none"
    if isinstance(value, list):
        return ", ".join(value)
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)
