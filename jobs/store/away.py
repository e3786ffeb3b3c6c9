"""Whether an error of the database is of its state rather than of the statement."""

import psycopg
from django.db import InterfaceError, OperationalError

# What PostgreSQL says of its state under a class that Django calls InternalError. A server is read-only while another
# takes over from it, or it is about to take over itself; it ends sessions that stay in a transaction for too long.
STATES = {
    psycopg.errors.ReadOnlySqlTransaction.sqlstate,
    psycopg.errors.IdleInTransactionSessionTimeout.sqlstate,
    "25P04",  # transaction_timeout, from PostgreSQL 17
}


def may_pass(error: BaseException | None) -> bool:
    """Whether the same statement may succeed later, without a change of it: the server is away, starting, stopping or
    read-only; or it is too busy, or somebody held a lock for too long.

    error: Django's. Its session may be lost, or lead to a server that stays read-only: close it before the next try.
    """
    if isinstance(error, (OperationalError, InterfaceError)):
        return True
    cause = None if error is None else error.__cause__
    return isinstance(cause, psycopg.Error) and cause.sqlstate in STATES


def told(error: BaseException) -> str | None:
    """An error of the database's state in one line, for people; None if it is of the statement."""
    line = str(error).partition("\n")[0]
    if isinstance(error.__cause__, psycopg.errors.UndefinedTable | psycopg.errors.UndefinedColumn):
        return f"{line}; run: manage.py migrate"
    return line if may_pass(error) else None
