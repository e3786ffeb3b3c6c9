"""Run the statements of every request with parameters that the server binds, so that it can keep the plans.

Django binds parameters in the client, so the server plans each execution anew. To build such a query with the ORM also
takes several times as long as to run it.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db import NotSupportedError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.pq import TransactionStatus

from plumbing.wire import Answer, Cursor

Row = TypeVar("Row")


def prepared(statement: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
    """Run a statement on Django's connection, inside the caller's transaction if there is one; return its rows."""
    return prepared_on(connection, statement, **parameters)


def prepared_on(database: BaseDatabaseWrapper, statement: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
    """Run a statement on that connection; return its rows. Raises Django's errors."""
    return _answer(database, statement, parameters).rows()


def objects_on(database: BaseDatabaseWrapper, kind: type[Row], statement: str, /, **parameters: Any) -> list[Row]:
    """Run a statement like `prepared_on`; return its rows as objects. Each column is the field of its name."""
    answer = _answer(database, statement, parameters)
    columns = answer.columns()
    return [kind(**dict(zip(columns, row, strict=True))) for row in answer.rows()]


def _answer(database: BaseDatabaseWrapper, statement: str, parameters: Mapping[str, Any]) -> Answer:
    # Like `connection.cursor()`: obey CONN_HEALTH_CHECKS, translate errors into Django's, log queries.
    database.close_if_health_check_failed()
    database.ensure_connection()
    try:
        return _run(database, statement, parameters)
    except NotSupportedError:
        # A migration may have changed the type of a column: then the plan that the session keeps fails for ever.
        # psycopg drops all plans when a transaction is rolled back. A transaction of the caller ends with this error.
        if database.connection.info.transaction_status != TransactionStatus.IDLE:
            raise
        with database.connection.transaction(force_rollback=True):
            pass
        return _run(database, statement, parameters)


def _run(database: BaseDatabaseWrapper, statement: str, parameters: Mapping[str, Any]) -> Answer:
    cursor = Cursor(database.connection, statement, parameters)
    database._prepare_cursor(cursor).execute(statement, parameters)  # type: ignore[attr-defined]
    return cursor.answer
