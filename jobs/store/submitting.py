"""Submit: new rows, and the identical ones that are there."""

import json
from datetime import datetime

from django.db import connection

from jobs.models import HELD_UNTIL
from jobs.request import JobRequest
from jobs.store.rows import rows


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
                "memory": r.memory,
                "max_retries": r.max_retries,
                "delay": r.delay,
                "at": r.at.isoformat() if r.at else None,
            }
            for place, r in requests.items()
        ]
    )
    return dict(rows("submit", requests=batch, held_until=HELD_UNTIL, now=now))


def _identities(requests: dict[int, JobRequest]) -> str:
    return json.dumps(
        [{"place": n, "tenant_id": r.tenant_id, "dedup_key": str(r.dedup_key)} for n, r in requests.items()]
    )


def find_identical(requests: dict[int, JobRequest], window: float, now: datetime | None = None) -> dict[int, int]:
    """The ids of unfinished identical jobs submitted in the last `window` seconds, by place."""
    return dict(rows("find_identical", requests=_identities(requests), window=window, now=now))


def release_identical(requests: dict[int, JobRequest], window: float, now: datetime | None = None) -> None:
    """Let jobs older than `window` seconds give up their key."""
    rows("release_identical", requests=_identities(requests), window=window, now=now)


def count_waiting(tenant_id: int, most: int) -> int:
    """How many of the tenant's jobs wait; a number above `most` only says that there are more."""
    count: int = rows("count_waiting", tenant_id=tenant_id, most=most)[0][0]
    return count


def wake_clock() -> None:
    """Tell the clock, when this transaction commits, that something is due at a moment of its own."""
    with connection.cursor() as cursor:
        cursor.execute("NOTIFY jobs_due")
