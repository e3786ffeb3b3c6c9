"""One read-only query against a customer's database: the only place that opens such a connection."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import psycopg
from psycopg import sql

from jobs import TenantError
from reports.plain import plain

CONNECT_TIMEOUT = 5  # seconds


class ReportFailed(TenantError):
    """A report could not be run. The message is for the tenant, and never says where the database is."""


@dataclass(frozen=True)
class Table:
    """What a query returned; every value is JSON."""

    columns: list[str]
    rows: list[list[Any]]


def read(url: str, statement: str, values: Mapping[str, Any], *, timeout: float, row_limit: int) -> Table:
    """Run one SELECT in a READ ONLY transaction of the database at `url`.

    Args:
        statement: SQL with `%(name)s` placeholders, one for each of `values` or fewer.
        timeout: seconds the database may take.
        row_limit: rows accepted; one more is an error, so that nobody takes part of an answer for the whole.

    Raises:
        ReportFailed: unreachable database, invalid SQL, an attempt to write, timeout, too many rows.
    """
    with _connection(url) as connection, connection.transaction():
        _limit(connection, timeout)
        # A cursor of the server: DECLARE takes exactly one SELECT, so the text cannot end this transaction
        # and go on outside it ("...; COMMIT; DROP ..."); and no more rows than wanted reach this process.
        with connection.cursor("report") as cursor:
            cursor.execute(cast("Any", statement), values)
            # All in one FETCH: the timeout is armed when a statement begins, so a query that sets it to zero
            # for itself would escape it from the second FETCH on.
            rows = cursor.fetchmany(row_limit + 1)
            if len(rows) > row_limit:
                raise ReportFailed(f"The report returns more than {row_limit:,} rows; narrow it.")
            columns = [column.name for column in cursor.description or ()]
    return Table(columns, [[plain(value) for value in row] for row in rows])


def _limit(connection: psycopg.Connection[Any], timeout: float) -> None:
    limits = {
        "statement_timeout": f"{max(1, int(timeout * 1000))}ms",
        "client_connection_check_interval": "1s",  # a worker that is killed or out of time leaves no query
        "cursor_tuple_fraction": "1",  # all rows are wanted: plan for the last one, not for the first
        "jit": "off",
    }
    local = sql.SQL("set_config({}, {}, true)")
    settings = sql.SQL(", ").join(local.format(name, value) for name, value in limits.items())
    connection.execute(sql.SQL("SELECT {}").format(settings))


@contextmanager
def _connection(url: str) -> Iterator[psycopg.Connection[Any]]:
    try:
        connection = psycopg.connect(url, connect_timeout=CONNECT_TIMEOUT, application_name="report")
    except psycopg.Error:
        # From None: the cause's text can quote the URL, and an attempt's traceback is stored.
        raise ReportFailed("The data source cannot be reached.") from None
    try:
        connection.read_only = True
        yield connection
    except psycopg.errors.QueryCanceled as error:
        raise ReportFailed(f"The database stopped the query: {_message(error)}.") from error
    except psycopg.Error as error:
        raise ReportFailed(f"The database refused the query: {_message(error)}.") from error
    finally:
        connection.close()


def _message(error: psycopg.Error) -> str:
    return error.diag.message_primary or str(error).partition("\n")[0] or type(error).__name__
