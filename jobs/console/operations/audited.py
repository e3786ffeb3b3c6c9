"""Search the audit log, and render its entries for operators."""

from collections.abc import Iterable, Iterator
from copy import copy
from functools import cache
from itertools import islice
from typing import Any

from django.apps import apps
from django.db.models import Model, QuerySet
from django.utils import timezone

from jobs.console.operations.filters import moment
from jobs.console.operations.named import tenant_named
from jobs.reading.masked import DOTS, is_secret, masked
from plumbing.names import kind_of
from tenants.audit import about
from tenants.models import Change, TenantQueue
from tenants.watched_rows import SECRET

FILTERS = ("tenant", "who", "kind", "subject_id", "since", "until")
FIELDS = (
    *("id", "at", "who", "key", "address", "actor_tenant_id", "tenant_id"),
    *("verb", "kind", "subject_id", "subject", "values"),
)

OWN_WORDS = frozenset(map(kind_of, (TenantQueue, Change)))  # kinds whose subjects say what they are
UNTOLD = SECRET | {"tenant_id"}  # fields of an added row
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


def folded(changes: Iterable[Change], most: int) -> list[Change]:
    """Return the first `most` lines of a list, in which a bulk action is one line for each of its verbs.

    The log has an entry for each tenant, so that a tenant sees what concerns it, and no more.
    """
    lines: dict[object, list[Change]] = {}
    for change in changes:
        lines.setdefault((change.bulk, change.verb) if change.bulk else change.pk, []).append(change)
    return [_as_one(same) for same in islice(lines.values(), most)]


def _as_one(same: list[Change]) -> Change:
    if len(same) == 1:
        return same[0]
    number = sum(one.values.get("number", 1) for one in same)
    line = copy(same[0])
    line.subject = f"{number:,} {_model(line)._meta.verbose_name_plural} of {len(same):,} tenants"
    return line


def subject_in_words(change: Change) -> str:
    """Return what the entry is about, for people: "queue mail"."""
    model = _models().get(change.kind)
    word = str(model._meta.verbose_name) if model and change.kind not in OWN_WORDS else ""
    return change.subject if word in change.subject else f"{word} {change.subject}"


def values_in_words(change: Change) -> str:
    """Return what the entry changed, for people: "slots 2 → 5".

    For an added row: the first MOST values that are not the defaults of its model, and the names of the others.
    """
    if change.verb != "added":
        values = {name: value for name, value in change.values.items() if name != "number"}  # the subject has it
        return ", ".join(_change_in_words(change, name, value) for name, value in values.items())
    values = dict(_own_values(change))
    shown = [f"{_title(change, name)} {_side(name, value)}" for name, value in islice(values.items(), MOST)]
    others = [_title(change, name) for name in islice(values, MOST, None)]
    return ", ".join(shown) + (f"; also {', '.join(others)}" if others else "")


def _own_values(change: Change) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of an added row that are not defaults, in the order of the fields of its model.

    What its subject says, its tenant and its secrets are left out.
    """
    for field in _model(change)._meta.concrete_fields:
        value = change.values.get(field.attname, [None])[-1]
        usual = field.get_default()
        told = value in (None, "", [], {}, usual) or (isinstance(value, str) and value in change.subject)
        if not (told or field.attname in UNTOLD or is_secret(field.attname)):
            yield field.attname, value


def _change_in_words(change: Change, name: str, value: Any) -> str:
    """Return a change for people: with an arrow if it is a pair of before and after.

    A value without a before, such as the filter of a bulk action, stands alone.
    """
    if is_secret(name) or name in SECRET:
        return f"{_title(change, name)} changed"
    if name == "filter":
        return f"matching {value}"
    sides = value if isinstance(value, list) and len(value) == 2 else [value]  # noqa: PLR2004 - before and after
    return f"{_title(change, name)} {' → '.join(_side(name, side) for side in sides)}"


def _side(name: str, value: Any) -> str:
    return _plain(DOTS if is_secret(name) else masked(value))


def _plain(value: Any) -> str:
    if value in (None, "", [], {}):
        return "none"
    match value:
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return f"{value:,.15g}"
        case list():
            return ", ".join(map(_plain, value))
        case dict():
            return f"({', '.join(f'{name}={_plain(inner)}' for name, inner in value.items())})"
    return str(value)


def _title(change: Change, name: str) -> str:
    """Return the name of a field as forms show it."""
    fields = {field.attname: field for field in _model(change)._meta.concrete_fields}
    return str(fields[name].verbose_name) if name in fields else name


def _model(change: Change) -> type[Model]:
    return _models().get(change.kind, Change)


@cache
def _models() -> dict[str, type[Model]]:
    return {kind_of(model): model for model in apps.get_models()}
