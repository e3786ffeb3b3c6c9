"""Distinguish errors of the database's state from errors of a statement."""

import psycopg
from django.db import InterfaceError, OperationalError

# Errors of PostgreSQL's state that Django raises as InternalError. A server is read-only while another takes over from
# it, or while it is about to take over itself. It ends sessions that stay in a transaction for too long.
STATES = {
    psycopg.errors.ReadOnlySqlTransaction.sqlstate,
    psycopg.errors.IdleInTransactionSessionTimeout.sqlstate,
    "25P04",  # transaction_timeout, from PostgreSQL 17
}


def may_pass(error: BaseException | None) -> bool:
    """Return whether the same statement, unchanged, may succeed later.

    The server is away, starting, stopping, read-only or too busy; or another session held a lock for too long.

    error: an error of Django. Its session may be lost, or lead to a server that stays read-only: close it before the
    next try.
    """
    if isinstance(error, (OperationalError, InterfaceError)):
        return True
    cause = None if error is None else error.__cause__
    return isinstance(cause, psycopg.Error) and cause.sqlstate in STATES


def told(error: BaseException) -> str | None:
    """Return an error of the database's state in one line, for people; None if it is an error of the statement."""
    line = str(error).partition("\n")[0]
    if isinstance(error.__cause__, psycopg.errors.UndefinedTable | psycopg.errors.UndefinedColumn):
        return f"{line}; run: manage.py migrate"
    return line if may_pass(error) else None
