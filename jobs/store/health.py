"""What health and metrics look at: a few short statements, none of which reads the waiting or the ended jobs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from jobs.conf import settings
from jobs.store.attempts import default_timeout
from jobs.store.rows import rows

MOST_LANES = 2000  # whose first jobs a look reads
MOST_DEAD = 10_000  # counted
TIMEOUT = 2.0  # seconds for one statement of a look


@dataclass(frozen=True)
class QueueLook:
    """A queue. oldest, may_run_since: seconds that the first jobs, and those that may run, have been ready; or None."""

    name: str
    pool: str
    processes: int  # of its pool
    pool_held: int
    held: int
    waiting: int  # about: scheduled and ready
    oldest: float | None
    may_run: int
    may_run_since: float | None


@dataclass(frozen=True)
class WorkersLook:
    """The workers of a pool in one state: live, draining or silent."""

    pool: str
    state: str
    workers: int
    processes: int


@dataclass(frozen=True)
class ServerLook:
    """recorder_age, oldest_transaction: seconds. untaken: messages that nobody took up in time. dead: letters."""

    clock_leads: bool
    recorder_age: float | None
    oldest_transaction: float
    connections: int
    max_connections: int
    untaken: int
    dead: int


@dataclass(frozen=True)
class EndedLook:
    """Attempts that ended, of these those that failed, and those whose job died."""

    attempts: int
    failed: int
    died: int


@dataclass(frozen=True)
class RepairLook:
    """age: seconds since the last one."""

    kind: str
    count: int
    age: float


@dataclass(frozen=True)
class TotalLook:
    """The attempts of one job type in one queue with one outcome, since the first: see `jobs.models.Total`."""

    queue: str
    source_type: str
    source_method: str
    outcome: str
    attempts: int
    run_seconds: float
    wait_seconds: float
    run_buckets: list[int]
    wait_buckets: list[int]


@contextmanager
def looking(seconds: float = TIMEOUT) -> Iterator[None]:
    """A transaction whose statements give up after so many seconds."""
    with transaction.atomic():
        rows("give_up_after", milliseconds=round(seconds * 1000))
        yield


def look_queues(now: datetime | None = None) -> list[QueueLook]:
    """Every queue, by name."""
    return [
        QueueLook(*row) for row in rows("health_queues", most=MOST_LANES, default_timeout=default_timeout(), now=now)
    ]


def look_workers(now: datetime | None = None) -> list[WorkersLook]:
    """The workers that have not left."""
    return [WorkersLook(*row) for row in rows("health_workers", now=now)]


def look_server(now: datetime | None = None) -> ServerLook:
    """The clock, the recorder, and PostgreSQL itself."""
    patience = 3 * settings.JOBS_HAND_OVER_TIMEOUT  # by then its message was sent again, twice
    return ServerLook(*rows("health_server", patience=patience, most=MOST_DEAD, now=now)[0])


def look_ended(minutes: int, now: datetime | None = None) -> EndedLook:
    """What ended in the last minutes."""
    return EndedLook(*rows("health_ended", minutes=minutes, now=now)[0])


def look_repairs(now: datetime | None = None) -> list[RepairLook]:
    """All repairs, by kind."""
    return [RepairLook(*row) for row in rows("health_repairs", now=now)]


def look_totals() -> list[TotalLook]:
    """All totals."""
    return [TotalLook(*row) for row in rows("health_totals")]
