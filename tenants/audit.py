"""The audit log: the actor and their address, the object, the old and new values of each change by a person.

Requests and commands set the actor; changes without one are not recorded here, but in the log. Rows of watched models
are recorded when they are saved. Other actions, such as those on jobs, call `note`.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model
from django.db.models.signals import post_delete, post_save, pre_save

from tenants.models import Change
from tenants.names import kind_of
from tenants.tenant_model import get_tenant_model

SECRET = frozenset({"password", "digest", "url"})  # recorded as changed, without their values
UNNOTED = frozenset(
    {"last_login", "last_used_at", "created_at", "next_due", "next_at", "last_job_id"}  # the system writes these
)
_NOTED = "_noted_values"
watched: set[str] = set()  # the kinds whose rows are recorded


@dataclass(frozen=True)
class Actor:
    """who: empty until `identify` names them. key: the prefix of their key. tenant_id: None: an operator."""

    who: str
    address: str = ""
    key: str = ""
    tenant_id: int | None = None


_actor = ContextVar[Actor | None]("actor", default=None)


@contextmanager
def acting(who: str | None = None, address: str = "") -> Iterator[None]:
    """Set the actor for the block; None: there is no actor until `identify` names one."""
    token = _actor.set(Actor((who or "")[:200], address[:45]))
    try:
        yield
    finally:
        _actor.reset(token)


def identify(who: str, key: str = "", tenant_id: int | None = None) -> None:
    """Name the actor of the block, perhaps with the prefix of their key, and their tenant; nothing outside `acting`."""
    if present := _actor.get():
        _actor.set(replace(present, who=who[:200], key=key, tenant_id=tenant_id))


def note(
    verb: str,
    model: type[Model],
    subjects: Iterable[tuple[Any, str]],
    values: dict[str, Any] | None = None,
    *,
    tenant_id: int | None,
) -> None:
    """Record an action on these (id, name) of a model, if there is an actor. tenant_id: whose they are, or None."""
    actor = _named()
    if actor is None:
        return
    by = {"who": actor.who, "key": actor.key, "address": actor.address, "actor_tenant_id": actor.tenant_id}
    of = {"verb": verb, "kind": kind_of(model), "tenant_id": tenant_id, "values": values or {}}
    Change.objects.bulk_create(Change(**by, **of, subject_id=str(pk), subject=name[:300]) for pk, name in subjects)


def watch(model: type[Model]) -> None:
    """Record when rows of this model are added, changed and deleted."""
    watched.add(kind_of(model))
    pre_save.connect(_remember, sender=model)
    post_save.connect(_saved, sender=model)
    post_delete.connect(_deleted, sender=model)


def _remember(instance: Model, raw: bool = False, **_: Any) -> None:
    if _named() is None or raw:
        return
    before = type(instance)._default_manager.filter(pk=instance.pk).first() if instance.pk else None
    setattr(instance, _NOTED, _values(before) if before else {})


def _saved(instance: Model, created: bool, update_fields: Iterable[str] | None = None, **_: Any) -> None:
    if not hasattr(instance, _NOTED):
        return
    before = getattr(instance, _NOTED)
    delattr(instance, _NOTED)
    after = _values(instance)
    fields = set(after) if update_fields is None else set(after).intersection(update_fields)
    changed = {name: [before.get(name), after[name]] for name in sorted(fields) if before.get(name) != after[name]}
    shown = {name: ["…", "…"] if name in SECRET else pair for name, pair in changed.items()}
    if changed or created:
        _note_row("added" if created else "changed", instance, shown)


def _deleted(instance: Model, **_: Any) -> None:
    _note_row("deleted", instance)


def _note_row(verb: str, row: Model, values: dict[str, Any] | None = None) -> None:
    tenant_id = row.pk if isinstance(row, get_tenant_model()) else getattr(row, "tenant_id", None)
    note(verb, type(row), [(row.pk, str(row))], values, tenant_id=tenant_id)


def _named() -> Actor | None:
    actor = _actor.get()
    return actor if actor and actor.who else None


def _values(row: Model) -> dict[str, Any]:
    """The values in JSON's types, so that stored and new values can be compared."""
    fields = (field for field in row._meta.concrete_fields if field.name not in UNNOTED and not field.primary_key)
    return {field.attname: _plain(field.value_from_object(row)) for field in fields}


def _plain(value: Any) -> Any:
    return (
        value
        if value is None or isinstance(value, str | int | float | list | dict)
        else DjangoJSONEncoder().default(value)
    )
