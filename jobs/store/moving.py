"""The rows of a tenant that moves between two installations: read as JSON, and stored as they were.

A move is no arrow: a job keeps its status. So these statements are made here of a table's name, and not in `jobs/sql/`.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from psycopg import sql

from jobs.store.rows import rows
from plumbing.names import named

A_STATEMENT = 1000  # rows


@dataclass(frozen=True)
class NamedParent:
    """The row to which another one refers by a number that each installation gives anew.

    name: the column that names it in every installation.
    """

    column: str
    table: str
    name: str


@dataclass(frozen=True)
class MovedTable:
    """A table of which a tenant's rows move.

    where: which of its rows `t` are the tenant's.
    keeps_id: whether the number is the same everywhere; otherwise the row gets another one.
    of_queue: whether it refers to a queue, which the file names.
    tenants: its columns with the number of the tenant.
    parent: what else it refers to.
    goes: whether its rows are deleted where the tenant has gone; the others stay to be looked at.
    """

    name: str
    where: str = "t.tenant_id = %(tenant)s"
    keeps_id: bool = False
    of_queue: bool = False
    tenants: tuple[str, ...] = ("tenant_id",)
    parent: NamedParent | None = None
    goes: bool = True

    def select(self) -> sql.Composed:
        """Return the statement that reads the tenant's rows, each as JSON."""
        row, joins, parent = sql.Composed([sql.SQL("to_jsonb(t)")]), sql.Composed([]), self.parent
        if not self.keeps_id:
            row += sql.SQL(" - 'id'")
        if self.of_queue:
            row += sql.SQL(" - 'queue_id' || jsonb_build_object('queue', q.name)")
            joins += sql.SQL(" JOIN {} q ON q.id = t.queue_id").format(sql.Identifier(named("queues")))
        if parent:
            row += sql.SQL(" - {} || jsonb_build_object({}, p.{})").format(
                sql.Literal(parent.column), sql.Literal(f"{parent.column}:"), sql.Identifier(parent.name)
            )
            joins += sql.SQL(" JOIN {} p ON p.id = t.{}").format(
                sql.Identifier(named(parent.table)), sql.Identifier(parent.column)
            )
        return sql.SQL("SELECT ({})::text FROM {} t{} WHERE {}").format(
            row, sql.Identifier(named(self.name)), joins, self._condition()
        )

    def delete(self) -> sql.Composed:
        """Return the statement that deletes the tenant's rows."""
        using, condition = sql.Composed([]), self._condition()
        if parent := self.parent:
            using = sql.SQL(" USING {} p").format(sql.Identifier(named(parent.table)))
            condition += sql.SQL(" AND p.id = t.{}").format(sql.Identifier(parent.column))
        return sql.SQL("DELETE FROM {} t{} WHERE {}").format(sql.Identifier(named(self.name)), using, condition)

    def _condition(self) -> sql.Composed:
        return sql.SQL(self.where).format(jobs=sql.Identifier(named("jobs")), batches=sql.Identifier(named("batches")))


@contextmanager
def snapshot() -> Iterator[None]:
    """See all tables as of one moment, and change none of them; in a transaction of the caller: see what that sees."""
    alone = not connection.in_atomic_block
    with transaction.atomic():
        if alone:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield


def read_rows(table: MovedTable, tenant_id: int) -> Iterator[str]:
    """Return the tenant's rows of the table, one after the other, each as JSON. Only in a transaction."""
    with connection.chunked_cursor() as cursor:
        cursor.execute(table.select(), {"tenant": tenant_id})
        while some := cursor.fetchmany(A_STATEMENT):
            for (row,) in some:
                yield row


def write_rows(table: MovedTable, found: Sequence[Mapping[str, Any]]) -> None:
    """Store rows of one form, as `read_rows` returned them, with the numbers of this installation."""
    columns = sql.SQL(", ").join(sql.Identifier(name) for name in found[0])
    name = sql.Identifier(named(table.name))
    statement = sql.SQL("INSERT INTO {} ({}) SELECT {} FROM jsonb_populate_recordset(NULL::{}, %s::jsonb)").format(
        name, columns, columns, name
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [json.dumps(found)])


def columns_of(table: MovedTable) -> set[str]:
    """Return the columns of the table here."""
    with connection.cursor() as cursor:
        description = connection.introspection.get_table_description(cursor, named(table.name))
    return {column.name for column in description}


def delete_rows(tables: Collection[MovedTable], tenant_id: int) -> None:
    """Delete the tenant's rows of these tables, the last one first, without news for the door."""
    with connection.cursor() as cursor:
        for table in reversed(list(tables)):
            cursor.execute(table.delete(), {"tenant": tenant_id})


def names_of_parents(parent: NamedParent, tenant_id: int) -> dict[str, int]:
    """Return the numbers here of the rows of the tenant to which others refer, by their names."""
    statement = sql.SQL("SELECT {}, id FROM {} WHERE tenant_id = %s").format(
        sql.Identifier(parent.name), sql.Identifier(named(parent.table))
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [tenant_id])
        return dict(cursor.fetchall())


def writers_of_jobs() -> set[str]:
    """Return the transactions that write jobs now."""
    return {transaction_id for (transaction_id,) in rows("writers_of_jobs", table=named("jobs"))}


def under_way_of_tenant(tenant_id: int) -> tuple[list[int], bool]:
    """Return the tenant's jobs in slots, and whether there is news of it that no dispatch has read."""
    found: tuple[list[int], bool] = rows("under_way_of_tenant", tenant=tenant_id)[0]
    return found


def numbers_taken(ids: Sequence[int]) -> list[int]:
    """Return those of these numbers that jobs or batches have here."""
    return [number for (number,) in rows("numbers_taken", ids=list(ids))]


def last_number() -> int:
    """Return the number that was given to the last job or batch."""
    number: int = rows("last_number")[0][0]
    return number


@transaction.atomic
def depart(tables: Collection[MovedTable], tenant_id: int) -> None:
    """Delete the tenant's rows of these tables, with its jobs, and tell the door."""
    rows("note_departure", tenant=tenant_id)
    delete_rows(tables, tenant_id)
    rows("forget_own_news")


def note_arrival(tenant_id: int, book: Mapping[str, Any]) -> None:
    """Tell the door about the tenant's jobs.

    book: what it has used, by month and unit, and the bucket of its rate limit.
    """
    used = book.get("used")
    bucket = {name: book.get(name) for name in ("full_at", "full_limit", "full_window")}
    rows("note_arrival", tenant=tenant_id, used=None if used is None else json.dumps(used), **bucket)


def read_book(tenant_id: int) -> dict[str, Any]:
    """Return the book of the tenant, as JSON would have it; {} if it has none."""
    found = rows("book_of_tenant", tenant=tenant_id)
    return json.loads(found[0][0]) if found else {}
