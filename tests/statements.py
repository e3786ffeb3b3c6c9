"""Whether PostgreSQL finds all tables and columns of a statement."""

import re

import psycopg
from psycopg.pq import DiagnosticField

from jobs.sql import statement

TYPE_IS_OPEN = b"42P18"  # of a parameter: said once all tables and columns have been found


def fault_of(name: str, onlooker: psycopg.Connection) -> str:
    """What PostgreSQL says against the statement of that name; "" if it can be planned."""
    prepared = onlooker.pgconn.prepare(b"", _numbered(statement(name)).encode())
    wrong = prepared.error_field(DiagnosticField.SQLSTATE)
    return "" if wrong in (None, TYPE_IS_OPEN) else prepared.error_message.decode()


def _numbered(sql: str) -> str:
    """With $1 for the first parameter, as PostgreSQL itself has it."""
    numbers: dict[str, int] = {}
    sql = re.sub(r"%\((\w+)\)s", lambda m: f"${numbers.setdefault(m[1], len(numbers) + 1)}", sql)
    return sql.replace("%%", "%")
