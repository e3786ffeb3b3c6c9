"""Search the audit log, and render its entries for operators."""

import json
from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db.models import QuerySet
from django.utils import timezone

from jobs.console.operations.filters import moment
from jobs.console.operations.named import tenant_named
from jobs.reading.masked import DOTS, is_secret, masked
from plumbing.names import kind_of
from tenants.audit import about
from tenants.models import Change

FILTERS = ("tenant", "who", "kind", "subject_id", "since", "until")
FIELDS = (
    *("id", "at", "who", "key", "address", "actor_tenant_id", "tenant_id"),
    *("verb", "kind", "subject_id", "subject", "values"),
)

MOST = 4  # fields of an added row in a list: the first say what it is, and the page of the entry has the others


def changes(given: dict[str, Any]) -> QuerySet[Change]:
    """Return the entries that match all given filters. Raises InvalidRequest.

    given: values by the names in FILTERS; None: no filter
    """
    wanted = {name: given[name] for name in FILTERS if given.get(name) is not None}
    entries = Change.objects.filter(about(**{name: wanted[name] for name in wanted.keys() & {"kind", "subject_id"}}))
    if "tenant" in wanted:
        entries = entries.filter(tenant_id=tenant_named(wanted["tenant"]).pk)
    if "who" in wanted:
        entries = entries.filter(who=wanted["who"])
    if "since" in wanted:
        entries = entries.filter(at__gt=moment("since", wanted["since"], timezone.now()))
    if "until" in wanted:
        entries = entries.filter(at__lte=moment("until", wanted["until"], timezone.now()))
    return entries


def document(change: Change) -> dict[str, Any]:
    """Return the FIELDS of an entry by name, for JSON."""
    return {name: getattr(change, name) for name in FIELDS}


def values_in_words(change: Change) -> str:
    """Return what the entry changed, for people: "num_slots 2 → 5".

    For an added row: the first MOST values that are not the defaults of its model.
    """
    if change.verb != "added":
        return ", ".join(f"{name} {_value_in_words(name, value)}" for name, value in change.values.items())
    values = list(_own_values(change))
    more = f", {len(values) - MOST} more" if len(values) > MOST else ""
    return ", ".join(f"{name} {_value_in_words(name, value)}" for name, value in values[:MOST]) + more


def _own_values(change: Change) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of an added row that are not defaults, in the order of the fields of its model.

    Its name and its tenant are left out: the entry shows them anyway.
    """
    model = next((model for model in apps.get_models() if kind_of(model) == change.kind), Change)
    for field in model._meta.concrete_fields:
        value = change.values.get(field.attname, [None])[-1]
        usual = field.get_default()
        if value not in (None, "", [], {}, usual, change.subject) and field.attname != "tenant_id":
            yield field.attname, value


def _value_in_words(name: str, value: Any) -> str:
    """Return a value for people: with an arrow if it is a pair of before and after.

    A value without a before, such as the filter of a bulk action, stands alone.
    """
    if is_secret(name):
        return DOTS
    sides = value if isinstance(value, list) and len(value) == 2 else [value]  # noqa: PLR2004 - before and after
    return " → ".join(_plain(masked(side)) for side in sides)


def _plain(value: Any) -> str:
    if value is None or value == "":
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
