"""Clean hands: what a body leaves behind in this process must not reach the next one, who is a stranger to it.

Language, time zone and other context variables are taken care of by `copy_context` (engine/body.py). Here it is about
sessions of databases: transactions, settings, the role, the search path, temporary tables, advisory locks.
"""

from contextlib import suppress
from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import pq

# As DISCARD ALL, but for the prepared statements, which hold nothing that a body could have put there.
RESET = (
    b"RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL; CLOSE ALL; UNLISTEN *;"
    b" SELECT pg_advisory_unlock_all(); DISCARD TEMP"
)
CANCEL_PATIENCE = 2.0  # seconds
DONE = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK)


def clean() -> bool:
    """Clean every session that is open; False if this process must not run another body.

    That is so when a body left an `atomic` block open, kept alive by a generator, say: whenever that is collected, its
    end runs on whatever connection is there then, in the middle of somebody else's work.
    """
    opened = connections.all(initialized_only=True)
    return sum(_clean(connection) for connection in opened) == len(opened)


def _clean(connection: BaseDatabaseWrapper) -> bool:
    if connection.in_atomic_block:
        if connection.connection is not None:
            _interrupt(connection)
            connection.connection.close()  # whatever it was doing is rolled back, its locks are free
        del connections[connection.alias]
        return False
    if connection.connection is not None and not (_can_be_reset(connection) and _reset(connection)):
        _interrupt(connection)
        connection.close()
    return True


def _interrupt(connection: Any) -> None:
    """The server would go on with a statement that a time limit has cut off here, and keep its locks."""
    raw = connection.connection
    if connection.vendor == "postgresql" and raw.pgconn.transaction_status == pq.TransactionStatus.ACTIVE:
        with suppress(Exception):  # it is being closed, whatever comes of it
            raw.cancel_safe(timeout=CANCEL_PATIENCE)


def _can_be_reset(connection: BaseDatabaseWrapper) -> bool:
    """Other databases' sessions are not: they are closed."""
    return connection.vendor == "postgresql" and not connection.settings_dict["OPTIONS"].get("assume_role")


def _reset(connection: Any) -> bool:
    """One round trip of 20 us. False if the session is not at rest, or is dead: then it cannot be."""
    raw = connection.connection
    at_rest = raw.pgconn.transaction_status == pq.TransactionStatus.IDLE
    if not (at_rest and raw.autocommit and raw.pgconn.pipeline_status == pq.PipelineStatus.OFF):
        return False
    if raw.pgconn.exec_(RESET).status not in DONE:
        return False
    connection.ensure_timezone()
    return True
