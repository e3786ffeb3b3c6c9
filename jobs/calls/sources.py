"""The object of a job: a row of its model that belongs to its tenant."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DEFAULT_DB_ALIAS, NotSupportedError, connections, models, router

from jobs.calls.registry import Target
from tenants.prepared import prepared_on

Find = Callable[[Target, Any, int], models.Model | None]
MALFORMED = (ValueError, TypeError, OverflowError, ValidationError)  # what Django says of an id that cannot be one


def find(target: Target, source_id: Any, tenant_id: int) -> models.Model | None:
    """The tenant's object; None if the id is missing, malformed or another tenant's."""
    if target.model is None:
        return None
    try:
        found = _find(target.model, source_id, tenant_id)
    except MALFORMED:
        return None
    # Other spellings of the id (" 9", "0_9") do not count: nobody was given them.
    return found if found is not None and str(found.pk) == str(source_id) else None


def is_beside_jobs(target: Target) -> bool:
    """Whether its objects are in the database of the jobs: with that, both are away."""
    return target.model is not None and router.db_for_write(target.model) == DEFAULT_DB_ALIAS


def find_all(wanted: Iterable[tuple[type[models.Model], Any, int]]) -> Find:
    """Load the objects of many calls, each a model, an id and a tenant, with one query for each model.

    Returns what finds them as `find` does.
    """
    asked: dict[type[models.Model], tuple[set[Any], set[int]]] = {}
    for model, source_id, tenant_id in wanted:
        with suppress(*MALFORMED):
            pks, tenants = asked.setdefault(model, (set(), set()))
            pks.add(model._meta.pk.to_python(source_id))
            tenants.add(tenant_id)
    found: dict[tuple[Any, int, str], models.Model] = {}
    for model, (pks, tenants) in asked.items():
        for one in _manager(model).filter(pk__in=pks, tenant__in=tenants):
            found[model, one.tenant_id, str(one.pk)] = one  # type: ignore[attr-defined]
    return lambda target, source_id, tenant_id: found.get((target.model, tenant_id, str(source_id)))


def _manager(model: type[models.Model]) -> models.Manager[models.Model]:
    """Where it is written: a replica may not have it yet."""
    return model._default_manager.db_manager(router.db_for_write(model))


def _find(model: type[models.Model], source_id: Any, tenant_id: int) -> models.Model | None:
    """Every job does this. To build and plan the query anew takes three times as long as the rest of it."""
    manager = _manager(model)
    # A manager of the model's own may make another query each time. In a transaction, an error would end that, too.
    if type(manager) is models.Manager and not connections[manager.db].in_atomic_block:
        try:
            return _query(model, manager.db).first(source_id, tenant_id)
        except NotSupportedError:  # a migration changed the type of a column: this session's plan fails from now on
            pass
    return next(iter(manager.filter(pk=source_id, tenant=tenant_id)), None)


@dataclass(frozen=True)
class _Query:
    """The compiled query of a model. converters: as Django's compiler has them, by the position of their column."""

    model: type[models.Model]
    database: str
    statement: str
    names: list[str]
    converters: dict[int, tuple[list[Any], Any]]

    def first(self, source_id: Any, tenant_id: int) -> models.Model | None:
        connection = connections[self.database]
        pk = self.model._meta.pk
        key = pk.get_db_prep_value(pk.get_prep_value(source_id), connection, prepared=True)
        for row in prepared_on(connection, self.statement, pk=key, tenant=tenant_id):
            values = list(row)
            for position, (converters, column) in self.converters.items():
                for convert in converters:
                    values[position] = convert(values[position], column, connection)
            return self.model.from_db(self.database, self.names, values)
        return None


@cache
def _query(model: type[models.Model], database: str) -> _Query:
    compiler = model._default_manager.filter(tenant=0).order_by().query.get_compiler(database)
    statement, _ = compiler.as_sql()
    quoted = connections[database].ops.quote_name
    pk = f"{quoted(model._meta.db_table)}.{quoted(model._meta.pk.column or '')}"
    statement = statement.replace("%s", "%(tenant)s") + f" AND {pk} = %(pk)s"
    columns = [column for column, *_ in compiler.select]
    return _Query(
        model, database, statement, [column.target.attname for column in columns], compiler.get_converters(columns)
    )
