"""The line: what is due joins it, what is paused leaves it, and the claim takes from its head."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

import psycopg
from django.conf import settings
from django.db import connection
from django.db.transaction import TransactionManagementError

from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL
from jobs.sql import statement
from jobs.store.rows import Applied, Claimed, Due, applied, live_for, rows


def promote(batch: int = 1000, now: datetime | None = None) -> list[Due]:
    """scheduled -> created for at most `batch` due jobs; those of a paused type are held."""
    due = rows("promote", batch=batch, held_until=HELD_UNTIL, now=now)
    return [Due(job_id, attempt, held=status == Status.SCHEDULED) for job_id, attempt, status in due]


def next_moment() -> float | None:
    """Seconds until a job is due or a rate limit has its next token (negative: late); None if neither is to come."""
    seconds: float | None = rows("next_moment", held_until=HELD_UNTIL)[0][0]
    return seconds


def hold(source_type: str, source_method: str) -> list[Applied]:
    """created -> scheduled for the waiting jobs of a paused type."""
    return applied("hold", source_type=source_type, source_method=source_method, held_until=HELD_UNTIL)


def release(now: datetime | None = None) -> list[Applied]:
    """scheduled -> created for the held jobs whose type is not paused."""
    return applied("release", held_until=HELD_UNTIL, now=now)


class Pass(list[Claimed]):
    """What one pass claimed, in the order of the turns. passed_over: ids that it chose, but somebody had locked."""

    def __init__(self, rows: Iterable[tuple[Any, ...]]) -> None:
        chosen = list(rows)
        super().__init__(Claimed(*row) for row in chosen if row[1] is not None)
        self.passed_over = {row[0] for row in chosen if row[1] is None}

    @property
    def more(self) -> bool:
        """Whether another pass may find a place for a further job."""
        return bool(self.passed_over) or any(job.more for job in self)


def claim(*, in_line: bool = True, passed_over: Collection[int] = (), now: datetime | None = None) -> Pass:
    """created -> queued, through the one door; empty also if somebody else is waiting there to see to it.

    passed_over: jobs to leave alone.

    One pipeline, so that no client can stall while it holds the door. The commit is not waited for: if the server dies
    with it, the jobs are still created and their messages start nothing.
    """
    if connection.in_atomic_block:
        raise TransactionManagementError("A dispatch is a transaction of its own; ask for it on commit.")
    connection.ensure_connection()
    raw = connection.connection
    cursor = psycopg.Cursor(raw)
    plain = psycopg.Cursor(raw)
    parameters = {
        "now": now,
        "passed_over": list(passed_over),
        "headroom": settings.JOBS_HEADROOM,
        "live_for": live_for(),
        "default_timeout": float(settings.JOBS_DEFAULT_TIMEOUT),
    }
    try:
        with connection.wrap_database_errors, raw.pipeline():  # whoever dispatches knows Django's errors, not psycopg's
            plain.execute("BEGIN")
            # The plan must not depend on how fresh the table's statistics are: a scan of the line is never right.
            plain.execute("SET LOCAL enable_seqscan = off")
            plain.execute("SET LOCAL enable_bitmapscan = off")
            plain.execute("SET LOCAL synchronous_commit = off")
            # A pass takes milliseconds. One that cannot get in, or out, must not hold others up: the clock tries again.
            plain.execute("SET LOCAL lock_timeout = '5s'")
            plain.execute("SET LOCAL statement_timeout = '30s'")
            plain.execute(statement("knock"), {"in_line": in_line})
            plain.execute(statement("enter"))
            plain.execute(statement("give_place"))
            cursor.execute(statement("claim"), parameters)
            plain.execute("COMMIT")
            return Pass(cursor.fetchall())
    except BaseException:
        raw.close()  # the waiting place is held by the session: it must not outlive a failed pass
        connection.close()
        raise
