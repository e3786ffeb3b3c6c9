"""The audit log: the actor and their address, the object, the old and new values of each change by a person.

Requests and commands set the actor. Changes without an actor are not recorded here, only in the process's log. Rows of
watched models are recorded when they are saved. Other actions, such as those on jobs, call `note` in their own
transaction, so that there is no action without its entry.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.db.models import Model, Q
from django.db.models.signals import m2m_changed, post_save, pre_delete, pre_save

from plumbing.names import kind_of
from tenants.models import Change, ChangeSubject
from tenants.tenant_model import get_tenant_model

SECRET = frozenset({"password", "digest", "url"})  # recorded as changed, without their values
DIGITS = 19  # of PostgreSQL's bigint
UNNOTED = frozenset(
    {"last_login", "last_used_at", "created_at", "next_due", "next_at", "last_job_id"}  # the system writes these
)
_NOTED = "_noted_values"
watched: set[str] = set()  # the kinds whose rows are recorded


@dataclass(frozen=True)
class Actor:
    """A person or a program that acts.

    who: the name; empty until `identify` names the actor.
    address: the network address; "" at the command line.
    key: the prefix of the actor's key; "" without a key.
    tenant_id: the actor's tenant; None for an operator.
    """

    who: str
    address: str = ""
    key: str = ""
    tenant_id: int | None = None


Named = tuple[Any, str]  # an id and a name
Of = tuple[str, type[Model], int | None]  # a verb, the model of the objects, and the id of their tenant
_actor = ContextVar[Actor | None]("actor", default=None)
_gathered = ContextVar[dict[Of, list[Named]] | None]("gathered", default=None)


@contextmanager
def acting(who: str | None = None, address: str = "") -> Iterator[None]:
    """Set the actor for the block; None: there is no actor until `identify` names one."""
    token = _actor.set(Actor((who or "")[:200], address[:45]))
    try:
        yield
    finally:
        _actor.reset(token)


def identify(who: str, key: str = "", tenant_id: int | None = None) -> None:
    """Name the actor of the block, perhaps with their key's prefix and their tenant. Does nothing outside `acting`."""
    if present := _actor.get():
        _actor.set(replace(present, who=who[:200], key=key, tenant_id=tenant_id))


def is_acting() -> bool:
    """Return whether there is an actor, so that actions are recorded."""
    return _named() is not None


@contextmanager
def acting_on(bulk: UUID) -> Iterator[None]:
    """Act in the block as the actor who began this bulk action; if it has no entry yet, as the present actor."""
    began = Change.objects.filter(bulk=bulk).first()
    token = _actor.set(Actor(began.who, began.address, began.key, began.actor_tenant_id) if began else _actor.get())
    try:
        yield
    finally:
        _actor.reset(token)


@contextmanager
def in_bulk(bulk: UUID | None, sought: str = "") -> Iterator[None]:
    """Run a transaction that records all calls of `note_one` as one entry for each verb and tenant, with their number.

    Each tenant has its own entry: a tenant sees the entries about its own objects, and no number or id of another's.

    bulk: the id of the bulk action. Several transactions with the same id continue the same entries.
        None: an action on one object, recorded as such.
    sought: the filter that chose the objects, in words; "" if they were named one by one.
    """
    with transaction.atomic():
        if bulk is None:
            yield
            return
        gathered: dict[Of, list[Named]] = defaultdict(list)
        token = _gathered.set(gathered)
        try:
            yield
        finally:
            _gathered.reset(token)
        for of, named in gathered.items():
            _note_many(bulk, sought, of, named)


def note_one(verb: str, model: type[Model], pk: int, name: str, *, tenant_id: int | None) -> None:
    """Record an action on one object of a model, or count it in the entry of the bulk action that it belongs to."""
    gathered = _gathered.get()
    if gathered is None:
        note(verb, model, [(pk, name)], tenant_id=tenant_id)
    else:
        gathered[verb, model, tenant_id].append((pk, name))


def note(
    verb: str,
    model: type[Model],
    subjects: Iterable[Named],
    values: dict[str, Any] | None = None,
    *,
    tenant_id: int | None,
    bulk: UUID | None = None,
) -> list[Change]:
    """Record an action on objects of a model, if there is an actor; return the entries.

    subjects: (id, name) of each object.
    tenant_id: the tenant of the objects; None if they belong to no tenant.
    """
    actor = _named()
    if actor is None:
        return []
    by = {"who": actor.who, "key": actor.key, "address": actor.address, "actor_tenant_id": actor.tenant_id}
    of = {"verb": verb, "kind": kind_of(model), "tenant_id": tenant_id, "values": values or {}, "bulk": bulk}
    entries = (Change(**by, **of, subject_id=str(pk), subject=name[:300]) for pk, name in subjects)
    return Change.objects.bulk_create(entries)


def complete(entries: Iterable[Change], values: dict[str, Any]) -> None:
    """Give the entries of an action its values, which were not known when the action began."""
    for entry in entries:
        entry.values = values
        entry.save(update_fields=["subject_id", "subject", "values"])


def about(kind: str | None = None, subject_id: str | None = None) -> Q:
    """Return a filter for the entries about this kind of object, or about this one object.

    An entry about one object may be its own, or that of a bulk action.
    """
    found = Q() if kind is None else Q(kind=kind)
    if subject_id is None:
        return found
    many: list[int] = []
    if subject_id.isdecimal() and len(subject_id) < DIGITS:
        many = list(ChangeSubject.objects.filter(subject_id=int(subject_id)).values_list("change_id", flat=True))
    return found & (Q(subject_id=subject_id) | Q(pk__in=many))


def watch(model: type[Model]) -> None:
    """Record when rows of this model are added, changed and deleted, and when their links change: a user's groups."""
    watched.add(kind_of(model))
    pre_save.connect(_remember, sender=model)
    post_save.connect(_saved, sender=model)
    pre_delete.connect(_deleted, sender=model)
    for field in model._meta.many_to_many:
        m2m_changed.connect(partial(_linked, field), sender=field.remote_field.through, weak=False)


def _note_many(bulk: UUID, sought: str, of: Of, named: list[Named]) -> None:
    verb, model, tenant_id = of
    entries = list(Change.objects.select_for_update().filter(bulk=bulk, verb=verb, tenant_id=tenant_id))
    if not entries:
        values = {"filter": sought} if sought else {}
        entries = note(verb, model, named[:1], values, tenant_id=tenant_id, bulk=bulk)
    for entry in entries:  # one, or none if there is no actor
        ChangeSubject.objects.bulk_create(ChangeSubject(change=entry, subject_id=pk) for pk, _ in named)
        number = entry.subjects.count() if entry.subject_id else entry.values["number"] + len(named)
        if number > 1:
            entry.subject_id, entry.subject = "", f"{number:,} {model._meta.verbose_name_plural}"
            complete([entry], {**entry.values, "number": number})


def _remember(instance: Model, raw: bool = False, **_: Any) -> None:
    if _named() is None or raw:
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
    shown = {name: ["…", "…"] if name in SECRET else pair for name, pair in changed.items()}
    if changed or created:
        _note_row("added" if created else "changed", instance, shown)


def _deleted(instance: Model, **_: Any) -> None:
    if _named() is not None and _stored(instance) is not None:  # else another transaction has deleted it
        _note_row("deleted", instance)


def _stored(row: Model) -> Model | None:
    """Return the stored row. In a transaction it is locked, so that no other transaction changes it before the end."""
    found = type(row)._base_manager.filter(pk=row.pk)
    if transaction.get_connection().in_atomic_block:
        found = found.select_for_update(no_key=True, of=("self",))
    return found.first()


def _linked(
    field: Any, *, instance: Any, action: str, reverse: bool, model: type[Model], pk_set: set[Any] | None, **_: Any
) -> None:
    """Record the links that a row has got, as its values after the change, or lost, as its values before."""
    if _named() is None or action not in ("post_add", "post_remove", "pre_clear"):
        return
    accessor = field.remote_field.get_accessor_name() if reverse else field.name
    others = getattr(instance, accessor).all() if pk_set is None else model._default_manager.filter(pk__in=pk_set)
    owned = [(other, [instance]) for other in others] if reverse else [(instance, list(others))]
    for row, linked in owned:
        names = sorted(map(str, linked))
        if names:
            _note_row("changed", row, {field.name: [[], names] if action == "post_add" else [names, []]})


def _note_row(verb: str, row: Model, values: dict[str, Any] | None = None) -> None:
    tenant_id = row.pk if isinstance(row, get_tenant_model()) else getattr(row, "tenant_id", None)
    note(verb, type(row), [(row.pk, str(row))], values, tenant_id=tenant_id)


def _named() -> Actor | None:
    actor = _actor.get()
    return actor if actor and actor.who else None


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
