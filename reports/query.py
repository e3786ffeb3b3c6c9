"""Run one read-only query against a customer's database. Only this module opens such connections."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any, cast

import psycopg
from psycopg import sql

from jobs import TenantError

CONNECT_TIMEOUT = 5  # seconds


class ReportFailed(TenantError):
    """A report could not run. The message is for the tenant, and never contains the address of the database."""


@dataclass(frozen=True)
class Table:
    """The result of a query; every value is JSON."""

    columns: list[str]
    rows: list[list[Any]]


def read(url: str, statement: str, values: Mapping[str, Any], *, timeout: float, row_limit: int) -> Table:
    """Run one SELECT in a READ ONLY transaction of the database at `url`.

    Args:
        statement: SQL with `%(name)s` placeholders, one for each of `values` or fewer.
        timeout: seconds that the database may take.
        row_limit: the most rows; one more is an error, so that no reader takes a part of the result for all of it.

    Raises:
        ReportFailed: unreachable database, invalid SQL, an attempt to write, timeout, too many rows.
    """
    with _connection(url) as connection, connection.transaction():
        _limit(connection, timeout)
        # A server-side cursor: DECLARE takes exactly one SELECT, so the text cannot end this transaction and
        # continue outside it ("...; COMMIT; DROP ..."); and this process gets no more rows than it wants.
        with connection.cursor("report") as cursor:
            cursor.execute(cast("Any", statement), values)
            # One FETCH for all rows: the timeout starts with each statement, so a query that sets it to zero
            # would escape it from the second FETCH on.
            rows = cursor.fetchmany(row_limit + 1)
            if len(rows) > row_limit:
                raise ReportFailed(f"The report returns more than {row_limit:,} rows; narrow it.")
            columns = [column.name for column in cursor.description or ()]
    return Table(columns, [[plain(value) for value in row] for row in rows])


def _limit(connection: psycopg.Connection[Any], timeout: float) -> None:
    limits = {
        "statement_timeout": f"{max(1, int(timeout * 1000))}ms",
        "client_connection_check_interval": "1s",  # a killed worker leaves no running query
        "cursor_tuple_fraction": "1",  # all rows are needed: plan for the last one, not for the first
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
        # From None: the text of the cause may quote the URL, and the traceback of an attempt is stored.
        raise ReportFailed("The data source is unreachable.") from None
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


def plain(value: Any) -> Any:
    """Return the JSON value of `value`; types that JSON lacks become text.

    A numeric becomes text, digit by digit: some programs would read a JSON number as a binary float, which is wrong for
    money. Infinity and NaN are not JSON either.
    """
    match value:
        case None | bool() | int() | str():
            cell: Any = value
        case float() if math.isfinite(value):
            cell = value
        case datetime() | date() | time():
            cell = value.isoformat()
        case bytes() | memoryview():
            cell = bytes(value).hex()
        case list() | tuple():
            cell = [plain(item) for item in value]
        case dict():
            cell = {str(key): plain(item) for key, item in value.items()}
        case _:
            cell = str(value)
    return cell
