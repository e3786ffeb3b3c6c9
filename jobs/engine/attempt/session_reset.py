"""Reset the sessions after a body, so that nothing of it reaches the next body here, perhaps another tenant's.

`copy_context` (engine/process/user_code.py) does this for language, time zone and other context variables. This module
does it for database sessions: transactions, settings, the role, the search path, temporary tables, advisory locks.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import Error, pq, sql
from psycopg.generators import fetch_many

from jobs.engine.process.interrupt import interrupt

# Like DISCARD ALL, but keep the prepared statements: a body cannot leave anything in them.
# Then set the time zone as Django does for a new session: Django itself would do it in a round trip of its own.
RESET = sql.SQL(
    "RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL; CLOSE ALL; UNLISTEN *;"
    " SELECT pg_advisory_unlock_all(); DISCARD TEMP; SET TIME ZONE {}"
)
SUCCEEDED = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK)


def clean(meanwhile: Callable[[], object] = lambda: None) -> bool:
    """Clean every open session; return False if this process must not run another body.

    That is the case if a body left an `atomic` block open, for example in a suspended generator. When the generator is
    collected, the end of the block would run on the connection, in the middle of another body's work.

    meanwhile: is called while the servers clean, so it must use none of these sessions.
    """
    opened = connections.all(initialized_only=True)
    left_open = [connection for connection in opened if connection.in_atomic_block]
    for connection in left_open:
        _drop(connection)
    rest = [connection for connection in opened if connection not in left_open and connection.connection is not None]
    asked = [connection for connection in rest if _can_be_reset(connection) and _ask_to_reset(connection)]
    meanwhile()
    for connection in rest:
        if connection not in asked or not _was_reset(connection):
            interrupt(connection)
            connection.close()
    return not left_open


def forget() -> None:
    """Forget every session, in a process that a body has forked: they are its parent's, and go on there.

    If they were closed here, the server would end them there, too. If both processes used them, each would read the
    other's answers.
    """
    for connection in connections.all(initialized_only=True):
        del connections[connection.alias]


def _drop(connection: BaseDatabaseWrapper) -> None:
    if connection.connection is not None:
        interrupt(connection)
        connection.connection.close()  # rolls back its transaction and frees its locks
    del connections[connection.alias]


def _can_be_reset(connection: BaseDatabaseWrapper) -> bool:
    """Return whether it is a session of PostgreSQL without `assume_role`; other sessions are closed instead."""
    return connection.vendor == "postgresql" and not connection.settings_dict["OPTIONS"].get("assume_role")


def _ask_to_reset(connection: Any) -> bool:
    """Ask the server to reset the session, which takes 20 us. Return False if it is busy or dead."""
    raw = connection.connection
    at_rest = raw.pgconn.transaction_status == pq.TransactionStatus.IDLE
    if not (at_rest and raw.autocommit and raw.pgconn.pipeline_status == pq.PipelineStatus.OFF):
        return False
    try:
        raw.pgconn.send_query(_statement(connection.timezone_name))
    except Error:
        return False
    return True


def _was_reset(connection: Any) -> bool:
    """Wait for the answers of the server. Return whether all is reset."""
    raw = connection.connection
    try:
        answers = raw.wait(fetch_many(raw.pgconn))  # not `get_result`, which keeps the interpreter while it waits
    except Error:
        return False
    return all(answer.status in SUCCEEDED for answer in answers)


@cache
def _statement(time_zone: str) -> bytes:
    return RESET.format(sql.Literal(time_zone)).as_bytes()
