"""What the statements give back, and how they are run."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from jobs import telemetry
from jobs.sql import statement
from jobs.store.session import session
from tenants.prepared import prepared_on


@dataclass(frozen=True)
class Applied:
    """A job that a statement moved."""

    id: int
    attempt: int


@dataclass(frozen=True)
class Due(Applied):
    """A job whose moment has come. held: its type is paused, so that it goes on waiting; else it is ready."""

    held: bool


@dataclass(frozen=True)
class Claimed:
    """A job to hand over. waited: seconds since it was ready."""

    id: int
    attempt: int
    pool: str
    waited: float = 0
    limited: bool = False  # a rate limit was spent on it


@dataclass(frozen=True)
class Process:
    """A child of a worker. Two may have had a message of the same attempt; one of them started it."""

    worker: uuid.UUID | None = None
    pid: int | None = None


ANY_PROCESS = Process()


@dataclass(frozen=True)
class Holder(Process):
    """The process that runs an attempt, and what it has used of the slot since that was last charged.

    since: when the first of the jobs that ran in it one after the other began; None: this one is the first. followed:
    how many came after the first.
    """

    since: datetime | None = None
    followed: int = 0


ANY_HOLDER = Holder()


@dataclass(frozen=True)
class Started:
    """What the holder of an attempt needs to run it and to say how it ended. timeout: seconds; memory: MiB, or None."""

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
    backoff_grows: bool  # of its queue: each delay is twice the last
    timeout: float
    memory: int | None
    holder: Holder


def rows(name: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
    """Run `sql/<name>.sql` in the engine's session, so inside the caller's transaction if there is one."""
    with session().cursor() as cursor:
        cursor.execute(statement(name), parameters)
        return cursor.fetchall() if cursor.description else []


def prepared(name: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
    """As `rows`, for what runs with every job: the server keeps the plan."""
    return prepared_on(session(), statement(name), **parameters)


def moved(verb: str, found: Sequence[tuple[Any, ...]]) -> list[Applied]:
    """The jobs that a statement moved, each logged."""
    jobs = [Applied(*row) for row in found]
    for job in jobs:
        log(verb, job.id, job.attempt)
    return jobs


def log(verb: str, job_id: int, attempt: int, **facts: object) -> None:
    """Leave the line of an arrow that was applied, if the transaction that applied it commits."""
    session().on_commit(partial(telemetry.applied, verb, job_id, attempt, **facts))
