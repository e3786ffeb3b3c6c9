"""Connections that the server has cut, for example in a restart: noticed without asking the server."""

import select
from typing import Any

from django.db import connections


def drop_cut_connections() -> None:
    """Close this thread's connections that the server has ended: their sockets tell us, in a microsecond.

    It runs before each request and each body, and replaces CONN_HEALTH_CHECKS, which would query the server. In a
    transaction nothing is closed: its next statement tells of the loss.
    """
    for connection in connections.all(initialized_only=True):
        raw = connection.connection
        if raw is not None and connection.vendor == "postgresql" and not connection.in_atomic_block and _is_cut(raw):
            connection.close()


def _is_cut(raw: Any) -> bool:
    """On an idle connection the only data is the server's goodbye."""
    if raw.closed:
        return True
    look = select.poll()  # select.select refuses the sockets of a process with more than 1,024 open files
    look.register(raw.fileno(), select.POLLIN)
    return bool(look.poll(0))
