"""Close connections that are of no more use, for example after a restart, without a query to the server."""

import select
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

READ_ONLY = (b"in_hot_standby", b"default_transaction_read_only")  # the server reports each change of them


def drop_cut_connections(**_: object) -> None:
    """Close this thread's connections that the server has ended: their sockets show it, in a microsecond.

    A connection to a read-only server is closed, too: another server may have taken over, or it may take changes again.
    This function runs before each request (apps.py) and each body. It replaces CONN_HEALTH_CHECKS, which would query
    the server. In a transaction nothing is closed: if the connection is lost, its next statement fails.
    """
    for connection in connections.all(initialized_only=True):
        raw = connection.connection
        if raw is None or connection.vendor != "postgresql" or connection.in_atomic_block:
            continue
        if _is_cut(raw) or _is_read_only(connection):
            connection.close()


def _is_cut(raw: Any) -> bool:
    """Return whether the server has ended the connection. On an idle connection any data means that."""
    if raw.closed:
        return True
    look = select.poll()  # select.select refuses the sockets of a process with more than 1,024 open files
    look.register(raw.fileno(), select.POLLIN)
    return bool(look.poll(0))


def _is_read_only(connection: BaseDatabaseWrapper) -> bool:
    """Return whether the server last reported itself as read-only.

    Only the jobs' database counts: another database may be a replica, and stay one.
    """
    status = connection.connection.pgconn.parameter_status
    return connection.alias == DEFAULT_DB_ALIAS and b"on" in map(status, READ_ONLY)
