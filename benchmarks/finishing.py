"""Finish claimed jobs at once, without a broker: through the store's own functions, one by one or in bulk."""

import os
import uuid
from collections.abc import Iterable, Sequence
from typing import Any
from unittest.mock import patch

import psycopg
from django.conf import settings
from django.db import connection

from benchmarks.fill import POOL
from jobs import store
from jobs.sql import statement
from jobs.store import Claimed

WORKER = uuid.uuid4()
LONG = 3600.0  # seconds


def register(concurrency: int, worker: uuid.UUID = WORKER) -> None:
    """Register a worker that is only a row, with so many processes; its one beat counts for hours here."""
    settings.JOBS_BEAT_INTERVAL = LONG
    os.environ["JOBS_BEAT_INTERVAL"] = str(LONG)
    store.beat(worker, name=f"bench@{worker}", pid=1, pool=POOL, capacity=concurrency)


def finish(job: Claimed) -> None:
    """Run all statements of a worker for a job that succeeds."""
    store.start(job.id, job.attempt, store.Seat.here(WORKER))
    store.succeed(job.id, job.attempt, {}, None)


def finish_all(jobs: Iterable[Claimed]) -> None:
    """The same statements in one pipeline and one transaction: a tenth of the time."""
    statements: list[tuple[str, Any]] = []

    def note(name: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
        statements.append((statement(name), parameters))
        return []

    with patch("jobs.store.attempts.prepared", note), patch("jobs.store.settling.prepared", note):
        for job in jobs:
            finish(job)
    send(statements)


def send(statements: Sequence[tuple[str, Any]]) -> None:
    """Execute statements without waiting for each answer; plan each once."""
    raw = connection.connection
    cursor = psycopg.Cursor(raw)
    with raw.transaction(), raw.pipeline():
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        for text, parameters in statements:
            cursor.execute(text, parameters)
