"""What the recorder has counted of the past (ADR 0019), kept for half a minute for all viewers."""

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from math import inf
from threading import Lock
from typing import Any, Generic, TypeVar

from django.db import DatabaseError

from jobs import queries
from jobs.dashboard import looks
from jobs.dashboard.charts import Chart, chart
from jobs.statistics import Summary, summaries
from jobs.store.health import look_sample

MINUTES, HOURS = 60, 24
KEPT = 30.0  # seconds
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
Value = TypeVar("Value")


class Kept(Generic[Value]):
    """A value that is read again when it is older than KEPT, or `most` seconds; if it cannot be, it stays as it was."""

    def __init__(self, read: Callable[[], Value], before: Value, most: float = inf) -> None:
        self._read, self._value, self._most = read, before, most
        self._lock, self._at = Lock(), float("-inf")

    def get(self) -> Value:
        with self._lock:
            if time.monotonic() - self._at >= min(KEPT, self._most):
                with suppress(DatabaseError):
                    self._value = self._read()
                self._at = time.monotonic()
            return self._value


def _last_hour() -> Chart:
    since = datetime.now(UTC).replace(second=0, microsecond=0) - MINUTES * MINUTE
    return chart(looks.minutes(since), since, MINUTE, MINUTES)


def _queues() -> dict[tuple[str, ...], Summary]:
    since = datetime.now(UTC).replace(second=0, microsecond=0) - MINUTES * MINUTE
    return summaries(queries.ended_in_queues(since), (), "queue")


last_hour: Kept[Chart | None] = Kept(_last_hour, None)
fairness: Kept[float | None] = Kept(lambda: look_sample().fairness, None)
queues: Kept[dict[tuple[str, ...], Any]] = Kept(_queues, {})


def of_tenant(tenant_id: int) -> tuple[Chart, dict[tuple[str, ...], Summary]]:
    """The last 24 hours of a tenant: a chart by hour, and its job types."""
    since = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - (HOURS - 1) * HOUR
    drawn = chart(looks.hours(tenant_id, since), since, HOUR, HOURS)
    return drawn, summaries(queries.ended(tenant_id, since), (), "source_type", "source_method")
