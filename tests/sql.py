"""A statement in one line."""

from typing import Any

import psycopg
from django.db import connection


def sql(text: str, parameters: Any = None) -> list[tuple[Any, ...]]:
    """What it answers; in the test's own session."""
    with connection.cursor() as cursor:
        cursor.execute(text, parameters)
        return cursor.fetchall() if cursor.description else []


def value(text: str, parameters: Any = None) -> Any:
    """The first one that it answers."""
    return sql(text, parameters)[0][0]


def cut() -> None:
    """End our session, in the server."""
    connection.ensure_connection()
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute("SELECT pg_terminate_backend(%s, 10000)", [connection.connection.info.backend_pid])
