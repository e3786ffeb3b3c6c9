"""Whether PostgreSQL finds all tables and columns of a statement."""

import psycopg
from psycopg.pq import DiagnosticField

from jobs.sql import statement
from plumbing.wire import with_numbers

TYPE_IS_OPEN = b"42P18"  # of a parameter: said once all tables and columns have been found


def fault_of(name: str, onlooker: psycopg.Connection) -> str:
    """What PostgreSQL says against the statement of that name; "" if it can be planned."""
    prepared = onlooker.pgconn.prepare(b"", with_numbers(statement(name))[0].encode())
    wrong = prepared.error_field(DiagnosticField.SQLSTATE)
    return "" if wrong in (None, TYPE_IS_OPEN) else prepared.error_message.decode()
