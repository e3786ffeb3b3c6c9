"""The audit log: the actor and their address, the object, the old and new values of each change by a person.

Requests and commands set the actor. Changes without an actor are not recorded here, only in the process's log. A saved
row of a watched model is recorded by `watched_rows.py`. Other actions, such as those on jobs, call `note` in their own
transaction, so that there is no action without its entry.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Model, Q

from plumbing.names import kind_of
from tenants.models import Change, ChangeSubject

DIGITS = 19  # of PostgreSQL's bigint


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
EntryKey = tuple[str, type[Model], int | None]  # a verb, the model of the objects, and the id of their tenant
_actor = ContextVar[Actor | None]("actor", default=None)
_gathered = ContextVar[dict[EntryKey, list[Named]] | None]("gathered", default=None)


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
        gathered: dict[EntryKey, list[Named]] = defaultdict(list)
        token = _gathered.set(gathered)
        try:
            yield
        finally:
            _gathered.reset(token)
        for key, named in gathered.items():
            _note_many(bulk, sought, key, named)


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
    action = {"verb": verb, "kind": kind_of(model), "tenant_id": tenant_id, "values": values or {}, "bulk": bulk}
    entries = (Change(**by, **action, subject_id=str(pk), subject=name[:300]) for pk, name in subjects)
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
    about_kind = Q() if kind is None else Q(kind=kind)
    if subject_id is None:
        return about_kind
    many: list[int] = []
    if subject_id.isdecimal() and len(subject_id) < DIGITS:
        many = list(ChangeSubject.objects.filter(subject_id=int(subject_id)).values_list("change_id", flat=True))
    return about_kind & (Q(subject_id=subject_id) | Q(pk__in=many))


def _note_many(bulk: UUID, sought: str, key: EntryKey, named: list[Named]) -> None:
    verb, model, tenant_id = key
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


def _named() -> Actor | None:
    actor = _actor.get()
    return actor if actor and actor.who else None
