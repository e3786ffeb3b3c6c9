"""Statements that run at every request: bound by the server, so that it keeps their plans.

Django binds in the client, and the server then plans each execution anew. And to build a query of the ORM takes
several times as long as to run it.
"""

from typing import Any

import psycopg
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper


class Cursor(psycopg.Cursor[tuple[Any, ...]]):
    """Lets the server bind. Tells Django's log also what was prepared."""

    def _send_query_prepared(self, name: bytes, pgq: Any, *, binary: bool | None = None) -> None:
        self._query = pgq
        super()._send_query_prepared(name, pgq, binary=binary)


def prepared(statement: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
    """Run it on Django's connection, so inside the caller's transaction if there is one; its rows."""
    return prepared_on(connection, statement, **parameters)


def prepared_on(database: BaseDatabaseWrapper, statement: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
    """Run it on that connection; its rows. Raises Django's errors."""
    database.ensure_connection()
    # What `connection.cursor()` does with a cursor of its own: errors become Django's, and queries are logged.
    with database._prepare_cursor(Cursor(database.connection)) as cursor:  # type: ignore[attr-defined]
        cursor.execute(statement, parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
