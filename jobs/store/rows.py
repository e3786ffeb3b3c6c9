"""What the statements give back, and how they are run."""

from dataclasses import dataclass
from typing import Any

from django.db import connection

from jobs.sql import statement


@dataclass(frozen=True)
class Applied:
    """An arrow that was gone."""

    id: int
    attempt: int


@dataclass(frozen=True)
class Due(Applied):
    """A job whose moment has come. held: its type is paused, so that it goes on waiting; else it is ready."""

    held: bool


@dataclass(frozen=True)
class Claimed:
    """A job to hand over. timeout: seconds; memory: MiB, None for the setting's; waited: seconds since it was ready."""

    id: int
    attempt: int
    pool: str
    timeout: float
    memory: int | None = None
    waited: float = 0
    limited: bool = False  # a rate limit was spent on it


@dataclass(frozen=True)
class Started:
    """What the holder of an attempt needs to run it and to say how it ended."""

    id: int
    attempt: int
    tenant_id: int
    source_type: str
    source_id: str | None
    source_method: str
    args: dict[str, Any]
    retries: int
    max_retries: int | None
    default_max_retries: int | None  # of its queue
    default_backoff: float  # of its queue, seconds


def rows(name: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
    """Run `sql/<name>.sql` on Django's connection, so inside the caller's transaction if there is one."""
    with connection.cursor() as cursor:
        cursor.execute(statement(name), parameters)
        return cursor.fetchall() if cursor.description else []


def applied(name: str, /, **parameters: Any) -> list[Applied]:
    """The jobs that a statement moved."""
    return [Applied(*row) for row in rows(name, **parameters)]
