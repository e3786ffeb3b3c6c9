"""Connections that are of no more use, for example since a restart: noticed without asking the server."""

import select
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

READ_ONLY = (b"in_hot_standby", b"default_transaction_read_only")  # the server reports each change of them


def drop_cut_connections(**_: object) -> None:
    """Close this thread's connections that the server has ended: their sockets tell us, in a microsecond. Close also
    one to a server that is read-only, where another may have taken over, or this one may take changes again.

    It runs before each request (apps.py) and each body, and replaces CONN_HEALTH_CHECKS, which would query the server.
    In a transaction nothing is closed: its next statement tells of the loss.
    """
    for connection in connections.all(initialized_only=True):
        raw = connection.connection
        if raw is None or connection.vendor != "postgresql" or connection.in_atomic_block:
            continue
        if _is_cut(raw) or _is_read_only(connection):
            connection.close()


def _is_cut(raw: Any) -> bool:
    """On an idle connection the only data is the server's goodbye."""
    if raw.closed:
        return True
    look = select.poll()  # select.select refuses the sockets of a process with more than 1,024 open files
    look.register(raw.fileno(), select.POLLIN)
    return bool(look.poll(0))


def _is_read_only(connection: BaseDatabaseWrapper) -> bool:
    """As far as the server said. Another database than the jobs' may be a replica, and stay one."""
    status = connection.connection.pgconn.parameter_status
    return connection.alias == DEFAULT_DB_ALIAS and b"on" in map(status, READ_ONLY)
