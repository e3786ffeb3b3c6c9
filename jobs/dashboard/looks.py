"""The looks of the snapshot: a few bounded statements, each with a second at most. Reads only."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from jobs.conf import settings
from jobs.dashboard.charts import Ended
from jobs.models import HELD_UNTIL
from jobs.sql import statement
from jobs.store.explain import PLANNER
from jobs.store.health import looking

PATIENCE = 1.0  # seconds that a look may take
LANES = 1000  # lanes that are looked at
EXACT = 20  # waiting jobs of a lane that are counted
WORKERS = 500
MOST = 10_000  # jobs that are counted for one number


@dataclass(frozen=True)
class Held:
    """worker: None if the jobs are handed over, and no process has started them yet."""

    tenant_id: int
    queue_id: int
    worker: UUID | None
    held: int


@dataclass(frozen=True)
class Lane:
    """The waiting jobs of a tenant in a queue. about: their number is not exact. first_since: of the first in line."""

    tenant_id: int
    queue_id: int
    waiting: int
    about: bool
    first_since: datetime


@dataclass(frozen=True)
class Tenant:
    """num_slots: None if they were never set. tokens: None without a rate limit. next_at: when there is a token."""

    id: int
    name: str
    slug: str
    num_slots: int | None
    user_slots: int | None
    weight: int
    paused: bool
    rate_limit: int | None
    rate_window: float | None
    tokens: float | None
    next_at: datetime | None


@dataclass(frozen=True)
class Queue:
    """held, pool_held: slots in use of the queue, and processes in use of its pool."""

    id: int
    name: str
    pool: str
    weight: int
    concurrency: int | None
    paused: bool
    rate_limit: int | None
    rate_window: float | None
    held: int
    pool_held: int
    pool_processes: int
    tokens: float | None
    next_at: datetime | None


@dataclass(frozen=True)
class Worker:
    """gone_at: None while it is registered. leads: its clock is the leader."""

    id: UUID
    name: str
    pid: int
    pool: str
    concurrency: int
    beat_interval: float
    started_at: datetime
    beat_at: datetime
    gone_at: datetime | None
    leads: bool


@dataclass(frozen=True)
class Counts:
    """Each number is at most MOST. now: the database's clock."""

    now: datetime
    scheduled: int
    held: int
    dead: int
    died_today: int
    died_now: int
    succeeded_now: int
    failed_now: int
    cancelled_now: int

    @property
    def ended_now(self) -> int:
        return self.succeeded_now + self.failed_now + self.cancelled_now + self.died_now


def held() -> list[Held]:
    """The slots in use."""
    timeout = float(settings.JOBS_DEFAULT_TIMEOUT)
    return [Held(*row) for row in _rows("look_held", now=None, default_timeout=timeout)]


def lanes() -> list[Lane]:
    """The lanes with waiting jobs, at most LANES."""
    return [Lane(*row) for row in _rows("look_lanes", most=LANES, exact=EXACT)]


def tenants(ids: set[int]) -> dict[int, Tenant]:
    """These tenants by id."""
    return {row[0]: Tenant(*row) for row in _rows("look_tenants", ids=sorted(ids), now=None)}


def queues() -> dict[int, Queue]:
    """All queues by id, in the order of their names."""
    timeout = float(settings.JOBS_DEFAULT_TIMEOUT)
    return {row[0]: Queue(*row) for row in _rows("look_queues", now=None, default_timeout=timeout)}


def workers() -> list[Worker]:
    """The live workers by pool, then those that went in the last day, latest first."""
    return [Worker(*row) for row in _rows("look_workers", most=WORKERS)]


def counts() -> Counts:
    """The numbers that are not in a line."""
    return Counts(*_rows("look_counts", most=MOST, held_until=HELD_UNTIL)[0])


def minutes(since: datetime) -> list[Ended]:
    """The attempts of all tenants by minute."""
    return [Ended(*row) for row in _rows("look_minutes", since=since)]


def hours(tenant_id: int, since: datetime) -> list[Ended]:
    """The attempts of a tenant by hour."""
    return [Ended(*row) for row in _rows("look_hours", tenant_id=tenant_id, since=since)]


def _rows(name: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
    with looking(PATIENCE), connection.cursor() as cursor:
        cursor.execute(PLANNER)
        cursor.execute(statement(name), parameters)
        found: list[tuple[Any, ...]] = cursor.fetchall()
        transaction.set_rollback(True)  # nothing was written; this restores the settings of the caller's transaction
    return found
