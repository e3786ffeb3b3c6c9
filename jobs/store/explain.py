"""What explain looks at: one job and each limit beside it, and the line it stands in. Reads only."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from jobs.sql import statement
from jobs.store.owner import TenantId, tenant_or_any

MOST = 1_000  # jobs before it that are counted; beyond, its place is "more than 1,000"
PROBES = 1_000  # users and tenants that are looked at
NAMES = 5  # competitors that are named
# As in the claim: no plan rests on how fresh a table's statistics are.
PLANNER = "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off"


@dataclass(frozen=True)
class Facts:
    """A job and its limits, at one moment. A limit is None where there is none; times are aware, windows seconds."""

    id: int
    status: str
    attempt: int
    retries: int
    max_retries: int | None
    last_error: str
    user_key: str
    source_type: str
    source_method: str
    slot: int | None
    progress: float | None
    stopping: bool  # it runs, and was asked to stop
    created_at: datetime
    due_at: datetime | None
    ready_at: datetime | None
    queued_at: datetime | None
    handed_at: datetime | None
    start_time: datetime | None
    end_time: datetime | None
    now: datetime
    last_attempt_failed: bool
    type_paused: bool
    worker: str | None
    tenant: str
    tenant_paused: bool | None  # this and num_slots: None for a tenant without a row in tenant_queues
    num_slots: int | None
    user_slots: int | None
    tenant_held: int
    user_held: int
    tenant_rate_limit: int | None
    tenant_rate_window: float | None
    tenant_tokens: float | None
    tenant_token_at: datetime | None
    queue: str
    queue_paused: bool
    queue_concurrency: int | None
    default_max_retries: int | None
    default_backoff: float
    backoff_grows: bool
    queue_held: int
    queue_rate_limit: int | None
    queue_rate_window: float | None
    queue_tokens: float | None
    queue_token_at: datetime | None
    pool: str
    pool_capacity: int  # the processes of its live workers
    pool_held: int


@dataclass(frozen=True)
class Line:
    """place: in its lane, from 1; MOST + 1 stands for all beyond. tenants, queues: who else waits, the first NAMES."""

    place: int
    tenants: list[str]
    queues: list[str]


def facts(job_id: int, *, tenant_id: TenantId, now: datetime | None = None) -> Facts | None:
    """The job and its limits; None if there is no such job of this owner."""
    found = _row("explain", id=job_id, tenant_id=tenant_or_any(tenant_id), now=now, **_capacity())
    return None if found is None else Facts(**found)


def line(job_id: int) -> Line | None:
    """Where a job that is ready stands; None if it is not waiting (any more)."""
    found = _row("explain_line", id=job_id, most=MOST, probes=PROBES, names=NAMES, now=None, **_capacity())
    return None if found is None else Line(**found)


def _capacity() -> dict[str, Any]:
    """What the chapters about capacity ask for."""
    return {
        "default_timeout": float(settings.JOBS_DEFAULT_TIMEOUT),
    }


def _row(name: str, /, **parameters: Any) -> dict[str, Any] | None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(PLANNER)
        cursor.execute(statement(name), parameters)
        found = cursor.fetchone()
        names = [column.name for column in cursor.description]
        transaction.set_rollback(True)  # nothing was written; a caller's own transaction gets its settings back
    return None if found is None else dict(zip(names, found, strict=True))
