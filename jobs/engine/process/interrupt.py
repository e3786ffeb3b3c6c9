"""Interrupt a statement that the server still executes for a body that has ended."""

from contextlib import suppress
from typing import Any

from psycopg import pq

CANCEL_PATIENCE = 2.0  # seconds


def interrupt(connection: Any) -> None:
    """Cancel a statement that a time limit cut off on our side: the server would go on, and keep its locks."""
    if is_active(connection):
        with suppress(Exception):  # the connection is closed anyway
            connection.connection.cancel_safe(timeout=CANCEL_PATIENCE)


def is_active(connection: Any) -> bool:
    """Return whether the server still executes a statement of this connection."""
    raw = connection.connection
    if raw is None or connection.vendor != "postgresql":
        return False
    return bool(raw.pgconn.transaction_status == pq.TransactionStatus.ACTIVE)
