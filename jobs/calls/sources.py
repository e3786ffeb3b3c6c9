"""Find the object of a job: a row of its model that belongs to its tenant."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, ProgrammingError, connection, connections, models, router, transaction
from django.db.models import F
from psycopg.errors import UndefinedTable

from jobs.calls.owners import path_of
from jobs.calls.queries import MALFORMED, query_of
from jobs.calls.refusals import InvalidRequest
from jobs.calls.registry import Target

Found = TypeVar("Found")
Find = Callable[[Target, Any, int], models.Model | None]


def find(target: Target, source_id: Any, tenant_id: int, *, of_a_job: bool = False) -> models.Model | None:
    """Return the tenant's object; None if the id is missing, malformed or another tenant's.

    of_a_job: a stored job names it, so another spelling of its id counts.

    Raises InvalidRequest if its model has no path to a tenant.
    """
    if target.model is None:
        return None
    path_of(target.model)  # here, since inside `try` its error would mean a wrong id
    try:
        row = _find(target.model, source_id, tenant_id)
    except MALFORMED:
        return None
    # Other spellings of the id (" 9", "0_9") do not count: we never return them to a caller. But a stored job has the
    # spelling of the object on which it was called: 1.5 for 1.50, or a moment in another zone.
    if row is None or str(row.pk) == str(source_id):
        return row
    return row if of_a_job and row.pk == row._meta.pk.to_python(source_id) else None


def find_in_sight(target: Target, source_id: Any, tenant_id: int) -> models.Model | None:
    """Return the tenant's object like `find`; None also if this session does not see its table."""
    return in_sight(partial(find, target, source_id, tenant_id))


def check_place(field: str, instance: models.Model) -> None:
    """Raise InvalidRequest for a row of a database in which jobs do not look for it.

    The job would run on another row with the same key.
    """
    model = instance.__class__
    looked_in = router.db_for_write(model)
    if instance._state.db == looked_in:
        return
    written_in = router.db_for_write(model, instance=instance)  # for a replica's row: the primary, if a router knows it
    if written_in != looked_in:
        raise InvalidRequest(field, f"is in the database {written_in}; a job would look in {looked_in}")


def key_text(instance: models.Model) -> str:
    """Return the object's key as text, in one spelling: a UUID may have been given in another one."""
    return str(instance._meta.pk.to_python(instance.pk))


def is_beside_jobs(target: Target) -> bool:
    """Return whether its objects are in the database of the jobs, so that an outage of that database concerns both."""
    return target.model is not None and router.db_for_write(target.model) == DEFAULT_DB_ALIAS


def find_all(wanted: Iterable[tuple[type[models.Model], Any, int]]) -> Find:
    """Load the objects of many calls, each a model, an id and a tenant, with one query for each model.

    Returns a function that finds them like `find`.
    """
    keys_of: dict[type[models.Model], tuple[set[Any], set[int]]] = {}
    for model, source_id, tenant_id in wanted:
        with suppress(*MALFORMED):
            path_of(model)
            pks, tenants = keys_of.setdefault(model, (set(), set()))
            pks.add(model._meta.pk.to_python(source_id))
            tenants.add(tenant_id)
    rows_by_key: dict[tuple[Any, int, str], models.Model] = {}
    for model, (pks, tenants) in keys_of.items():
        lookup, keys = path_of(model).lookup, path_of(model).keys(tenants)
        owners = {str(key): tenant_id for tenant_id, key in keys.items()}
        rows = manager_of(model).filter(pk__in=pks).filter(**{f"{lookup}__in": keys.values()})
        rows = rows.annotate(jobs_owner=F(lookup))
        for row in in_sight(partial(list[Any], rows)) or []:
            rows_by_key[model, owners[str(row.jobs_owner)], str(row.pk)] = row
    return lambda target, source_id, tenant_id: rows_by_key.get((target.model, tenant_id, str(source_id)))


def in_sight(query: Callable[[], Found]) -> Found | None:
    """Return what the query finds; None if its table is in none of this session's schemas.

    Where each tenant has a schema of its own, only the session of a job's body is sure to be in it (JOBS_AROUND).
    """
    try:
        # In a transaction, the error would end the transaction, too.
        with transaction.atomic() if connection.in_atomic_block else nullcontext():
            return query()
    except ProgrammingError as error:
        if isinstance(error.__cause__, UndefinedTable):
            return None
        raise


def manager_of(model: type[models.Model]) -> models.Manager[models.Model]:
    """Return the model's manager for the database where it is written: a replica may not have the row yet."""
    return model._default_manager.db_manager(router.db_for_write(model))


def _find(model: type[models.Model], source_id: Any, tenant_id: int) -> models.Model | None:
    """Return the owner's row with that id; None if there is none.

    Every job does this. To build and plan the query anew would take three times as long as the rest.
    """
    manager, path = manager_of(model), path_of(model)
    owner = path.keys([tenant_id]).get(tenant_id)
    if owner is None:
        return None
    # A custom manager may make another query each time. In a transaction, an error would end the transaction, too.
    if type(manager) is models.Manager and not connections[manager.db].in_atomic_block:
        return query_of(model, manager.db).first(source_id, owner)
    return next(iter(manager.filter(pk=source_id).filter(**{path.lookup: owner})), None)
