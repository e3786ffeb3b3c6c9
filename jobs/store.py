"""The only writer of job rows: one function per statement of `sql/`.

Each reports what it applied. `now` is the clock of a test; None is the database's own.
"""

import json
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import psycopg
from django.conf import settings
from django.db import connection
from django.db.transaction import TransactionManagementError
from psycopg.rows import class_row

from jobs.request import JobRequest
from jobs.sql import statement

Row = TypeVar("Row")
LIVE_BEATS = 3  # a worker silent for so many beats is gone


@dataclass(frozen=True)
class Applied:
    """An arrow that was gone."""

    id: int
    attempt: int


@dataclass(frozen=True)
class Claimed:
    """A job to hand over. timeout: seconds; waited: seconds since it was ready."""

    id: int
    attempt: int
    pool: str
    timeout: float
    waited: float = 0
    more: bool = False  # another pass may find a place for a further job


@dataclass(frozen=True)
class Started:
    """What the holder of an attempt needs to run it."""

    id: int
    attempt: int
    tenant_id: int
    source_type: str
    source_id: str | None
    source_method: str
    args: dict[str, Any]


def live_for() -> float:
    """Seconds after its last beat for which a worker counts as live."""
    return LIVE_BEATS * float(settings.JOBS_BEAT_INTERVAL)


def _rows(name: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement(name), parameters)
        return cursor.fetchall() if cursor.description else []


# --- submit -------------------------------------------------------------------------------------------------


def insert(requests: dict[int, JobRequest], now: datetime | None = None) -> dict[int, int]:
    """Store the requests, by place; the ids of those stored. The others are identical to an unfinished job."""
    batch = json.dumps(
        [
            {
                "place": place,
                "tenant_id": r.tenant_id,
                "queue": r.queue,
                "priority": r.priority,
                "user_key": r.user_key,
                "source_type": r.source_type,
                "source_id": r.source_id,
                "source_method": r.source_method,
                "args": r.args,
                "dedup_key": str(r.dedup_key) if r.dedup_key else None,
                "timeout": r.timeout,
                "delay": r.delay,
                "at": r.at.isoformat() if r.at else None,
            }
            for place, r in requests.items()
        ]
    )
    return dict(_rows("submit", requests=batch, now=now))


def _identities(requests: dict[int, JobRequest]) -> str:
    return json.dumps(
        [{"place": n, "tenant_id": r.tenant_id, "dedup_key": str(r.dedup_key)} for n, r in requests.items()]
    )


def find_identical(requests: dict[int, JobRequest], window: float, now: datetime | None = None) -> dict[int, int]:
    """The ids of unfinished identical jobs submitted in the last `window` seconds, by place."""
    return dict(_rows("find_identical", requests=_identities(requests), window=window, now=now))


def release_identical(requests: dict[int, JobRequest], window: float, now: datetime | None = None) -> None:
    """Let jobs older than `window` seconds give up their key."""
    _rows("release_identical", requests=_identities(requests), window=window, now=now)


def wake_clock() -> None:
    """Tell the clock, when this transaction commits, that something is due at a moment of its own."""
    with connection.cursor() as cursor:
        cursor.execute("NOTIFY jobs_due")


# --- promote and claim ----------------------------------------------------------------------------------------


def promote(batch: int = 1000, now: datetime | None = None) -> list[Applied]:
    """scheduled -> created for at most `batch` due jobs."""
    return [Applied(*row) for row in _rows("promote", batch=batch, now=now)]


def next_due() -> float | None:
    """Seconds until the next scheduled job is due (negative: late); None if there is none."""
    seconds: float | None = _rows("next_due")[0][0]
    return seconds


def claim(*, in_line: bool = True, now: datetime | None = None) -> list[Claimed]:
    """created -> queued, through the one door; empty also if somebody else is waiting there to see to it.

    One pipeline, so that no client can stall while it holds the door. The commit is not waited for: if the server dies
    with it, the jobs are still created and their messages start nothing.
    """
    if connection.in_atomic_block:
        raise TransactionManagementError("A dispatch is a transaction of its own; ask for it on commit.")
    connection.ensure_connection()
    raw = connection.connection
    cursor = psycopg.Cursor(raw, row_factory=class_row(Claimed))
    plain = psycopg.Cursor(raw)
    parameters = {
        "now": now,
        "headroom": settings.JOBS_HEADROOM,
        "live_for": live_for(),
        "default_timeout": float(settings.JOBS_DEFAULT_TIMEOUT),
    }
    try:
        with raw.pipeline():
            plain.execute("BEGIN")
            # The plan must not depend on how fresh the table's statistics are: a scan of the line is never right.
            plain.execute("SET LOCAL enable_seqscan = off")
            plain.execute("SET LOCAL enable_bitmapscan = off")
            plain.execute("SET LOCAL synchronous_commit = off")
            plain.execute(statement("knock"), {"in_line": in_line})
            plain.execute(statement("enter"))
            plain.execute(statement("give_place"))
            cursor.execute(statement("claim"), parameters)
            plain.execute("COMMIT")
            return cursor.fetchall()
    except BaseException:
        raw.close()  # the waiting place is held by the session: it must not outlive a failed pass
        connection.close()
        raise


# --- execute ----------------------------------------------------------------------------------------------------


def start(job_id: int, attempt: int, worker: uuid.UUID, now: datetime | None = None) -> Started | None:
    """queued -> running; None if this attempt is not waiting to be started."""
    rows = _rows("start", id=job_id, attempt=attempt, worker=worker, now=now)
    if not rows:
        return None
    *_, tenant_id, source_type, source_id, source_method, args = rows[0]
    return Started(job_id, attempt, tenant_id, source_type, source_id, source_method, json.loads(args))


def progress(job_id: int, attempt: int, fraction: float, note: str) -> bool:
    """Note how far a running attempt is (0..1)."""
    return bool(_rows("progress", id=job_id, attempt=attempt, fraction=fraction, note=note))


def succeed(
    job_id: int, attempt: int, stats: dict[str, Any], result_ttl: float | None, now: datetime | None = None
) -> bool:
    """running -> success. result_ttl: seconds its result is kept; None: it was not kept."""
    return bool(_rows("succeed", id=job_id, attempt=attempt, stats=json.dumps(stats), result_ttl=result_ttl, now=now))


def fail(
    job_id: int,
    attempt: int,
    *,
    error_class: str,
    error: str,
    traceback: str = "",
    stats: dict[str, Any] | None = None,
    now: datetime | None = None,
) -> bool:
    """running -> error, and the failed attempt is kept."""
    return bool(
        _rows(
            "fail",
            id=job_id,
            attempt=attempt,
            error_class=error_class,
            error=error,
            traceback=traceback,
            stats=None if stats is None else json.dumps(stats),
            now=now,
        )
    )


def cancel(job_id: int, tenant_id: int | None = None, now: datetime | None = None) -> bool:
    """scheduled, created or queued -> cancelled."""
    return bool(_rows("cancel", id=job_id, tenant_id=tenant_id, now=now))


# --- recover ----------------------------------------------------------------------------------------------------


def orphans() -> list[tuple[int, int, str]]:
    """(job id, attempt, worker's name) of the running attempts whose worker is gone."""
    return [(job_id, attempt, worker) for job_id, attempt, worker in _rows("orphans")]


def take_back(job_id: int, attempt: int, error: str, max_crashes: int, now: datetime | None = None) -> str | None:
    """running -> created, or -> dead after `max_crashes` crashes; the new status, None if it did not apply."""
    rows = _rows("take_back", id=job_id, attempt=attempt, error=error, max_crashes=max_crashes, now=now)
    return rows[0][2] if rows else None


def hand_over_again(patience: float, now: datetime | None = None) -> list[Claimed]:
    """The queued jobs whose message must be lost: `patience` seconds unanswered beside an idle process."""
    rows = _rows(
        "hand_over_again",
        patience=patience,
        live_for=live_for(),
        default_timeout=float(settings.JOBS_DEFAULT_TIMEOUT),
        now=now,
    )
    return [Claimed(*row) for row in rows]


# --- workers ----------------------------------------------------------------------------------------------------


def beat(worker: uuid.UUID, *, name: str, pid: int, pool: str, concurrency: int) -> bool | None:
    """Register or go on; True if it is new, None if it was declared gone and must stop."""
    rows = _rows("beat", id=worker, name=name, pid=pid, pool=pool, concurrency=concurrency)
    return rows[0][0] if rows else None


def leave(worker: uuid.UUID) -> None:
    """A worker stops in good order."""
    _rows("leave", id=worker)


def declare_gone(now: datetime | None = None) -> list[str]:
    """The names of the workers that stopped beating, now declared gone."""
    return [name for (name,) in _rows("declare_gone", live_for=live_for(), now=now)]
