"""The queries that find the objects of jobs: compiled once for each model, and planned once in each session.

Every job needs one. To build and plan the query anew would take three times as long as the rest.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

from django.core.exceptions import ValidationError
from django.db import connections, models
from django.db.models.expressions import RawSQL

from jobs.calls.owners import path_of
from plumbing.prepared import prepared_on

MALFORMED = (ValueError, TypeError, OverflowError, ValidationError)  # Django's errors for an impossible id

Make = Callable[[], models.Model]


@dataclass(frozen=True)
class Query:
    """The compiled query of a model.

    statement: finds the row with the key %(pk)s of the owner %(owner)s.
    names: the attributes of the columns, in their order.
    converters: the converters of Django's compiler, each with its column, by the position of the column.
    """

    model: type[models.Model]
    database: str
    statement: str
    names: list[str]
    converters: dict[int, tuple[list[Any], Any]]

    def first(self, source_id: Any, owner: Any) -> models.Model | None:
        """Return the owner's row with that id; None if there is none. Raises one of MALFORMED."""
        pk, owner = self._given(source_id, owner)
        for row in prepared_on(connections[self.database], self.statement, pk=pk, owner=owner):
            return self._made(row)
        return None

    def makers(self, wanted: Sequence[tuple[Any, Any]]) -> dict[int, Make]:
        """Find many rows, each by an id and its owner, with one query.

        Return who makes the object, by the place in `wanted`; no place for a row that there is not. Raises one of
        MALFORMED.
        """
        pks, owners = zip(*(self._given(*pair) for pair in wanted), strict=True)
        rows = prepared_on(connections[self.database], self._of_many, pks=[*pks], owners=[*owners])
        return {place - 1: partial(self._made, row) for *row, place in rows}

    @cached_property
    def _of_many(self) -> str:
        """The statement for several keys. Each place has a row of its own, since no two jobs may share an object."""
        one = self.statement.replace("%(pk)s", "jobs_wanted.pk").replace("%(owner)s", "jobs_wanted.owner")
        wanted = "unnest(%(pks)s, %(owners)s) WITH ORDINALITY AS jobs_wanted (pk, owner, place)"
        return f"SELECT jobs_found.*, place FROM {wanted} CROSS JOIN LATERAL ({one}) AS jobs_found"  # noqa: S608

    def _given(self, source_id: Any, owner: Any) -> tuple[Any, Any]:
        """Return an id and an owner as the database takes them. Raises one of MALFORMED."""
        connection = connections[self.database]
        pk, key = (
            field.get_db_prep_value(field.get_prep_value(value), connection, prepared=True)
            for field, value in ((self.model._meta.pk, source_id), (path_of(self.model).key, owner))
        )
        return pk, key

    def _made(self, row: Sequence[Any]) -> models.Model:
        connection, values = connections[self.database], list(row)
        for position, (converters, column) in self.converters.items():
            for convert in converters:
                values[position] = convert(values[position], column, connection)
        return self.model.from_db(self.database, self.names, values)


@cache
def query_of(model: type[models.Model], database: str) -> Query:
    """Return the query of a model, whose manager is Django's own, in that database."""
    owner = {path_of(model).lookup: RawSQL("%s", [None])}
    compiler = model._default_manager.filter(**owner).order_by().query.get_compiler(database)
    statement, _ = compiler.as_sql()
    quoted = connections[database].ops.quote_name
    pk = f"{quoted(model._meta.db_table)}.{quoted(model._meta.pk.column or '')}"
    statement = statement.replace("%s", "%(owner)s") + f" AND {pk} = %(pk)s"
    columns = [column for column, *_ in compiler.select]
    return Query(
        model, database, statement, [column.target.attname for column in columns], compiler.get_converters(columns)
    )
