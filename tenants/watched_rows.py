"""Record the changes of the rows of watched models in the audit log, whenever a person saves or deletes one."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_save, pre_delete, pre_save

from plumbing.names import kind_of
from tenants.audit import is_acting, note
from tenants.tenant_model import get_tenant_model

SECRET = frozenset({"password", "digest", "url"})  # recorded as changed, without their values
UNNOTED = frozenset(
    {"last_login", "last_used_at", "created_at", "next_due", "next_at", "last_job_id"}  # the system writes these
)
_NOTED = "_noted_values"
watched_kinds: set[str] = set()  # the kinds whose rows are recorded


def watch(model: type[Model]) -> None:
    """Record when rows of this model are added, changed and deleted, and when their links change: a user's groups."""
    watched_kinds.add(kind_of(model))
    pre_save.connect(_remember, sender=model)
    post_save.connect(_saved, sender=model)
    pre_delete.connect(_deleted, sender=model)
    for field in model._meta.many_to_many:
        m2m_changed.connect(partial(_linked, field), sender=field.remote_field.through, weak=False)


def _remember(instance: Model, raw: bool = False, **_: Any) -> None:
    if not is_acting() or raw:
        return
    before = _stored(instance)
    setattr(instance, _NOTED, _values(before) if before else {})


def _saved(instance: Model, created: bool, update_fields: Iterable[str] | None = None, **_: Any) -> None:
    if not hasattr(instance, _NOTED):
        return
    before = getattr(instance, _NOTED)
    delattr(instance, _NOTED)
    after = _values(instance)
    fields = set(after) if update_fields is None else set(after).intersection(update_fields)
    changed = {name: [before.get(name), after[name]] for name in sorted(fields) if before.get(name) != after[name]}
    masked = {name: ["…", "…"] if name in SECRET else pair for name, pair in changed.items()}
    if changed or created:
        _note_row("added" if created else "changed", instance, masked)


def _deleted(instance: Model, **_: Any) -> None:
    if is_acting() and _stored(instance) is not None:  # else another transaction has deleted it
        _note_row("deleted", instance)


def _stored(row: Model) -> Model | None:
    """Return the stored row. In a transaction it is locked, so that no other transaction changes it before the end."""
    rows = type(row)._base_manager.filter(pk=row.pk)
    if transaction.get_connection().in_atomic_block:
        rows = rows.select_for_update(no_key=True, of=("self",))
    return rows.first()


def _linked(
    field: Any, *, instance: Any, action: str, reverse: bool, model: type[Model], pk_set: set[Any] | None, **_: Any
) -> None:
    """Record the links that a row has got, as its values after the change, or lost, as its values before."""
    if not is_acting() or action not in ("post_add", "post_remove", "pre_clear"):
        return
    accessor = field.remote_field.get_accessor_name() if reverse else field.name
    linked_rows = getattr(instance, accessor).all() if pk_set is None else model._default_manager.filter(pk__in=pk_set)
    owned = [(linked_row, [instance]) for linked_row in linked_rows] if reverse else [(instance, list(linked_rows))]
    for row, linked in owned:
        names = sorted(map(str, linked))
        if names:
            _note_row("changed", row, {field.name: [[], names] if action == "post_add" else [names, []]})


def _note_row(verb: str, row: Model, values: dict[str, Any] | None = None) -> None:
    tenant_id = row.pk if isinstance(row, get_tenant_model()) else getattr(row, "tenant_id", None)
    note(verb, type(row), [(row.pk, str(row))], values, tenant_id=tenant_id)


def _values(row: Model) -> dict[str, Any]:
    """Return the row's values in JSON's types, so that stored and new values can be compared."""
    fields = (field for field in row._meta.concrete_fields if field.name not in UNNOTED and not field.primary_key)
    return {field.attname: _plain(field.value_from_object(row)) for field in fields}


def _plain(value: Any) -> Any:
    return (
        value
        if value is None or isinstance(value, str | int | float | list | dict)
        else DjangoJSONEncoder().default(value)
    )
