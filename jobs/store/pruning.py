"""Delete old rows of the engine's own tables."""

from collections.abc import Sequence
from datetime import datetime

from jobs.store.rows import rows


def forget_workers(seconds: float, now: datetime | None = None) -> None:
    """Delete workers that have been gone for that long."""
    rows("forget_workers", seconds=seconds, now=now)


def forget_runs(seconds: float, batch: int = 1000, now: datetime | None = None) -> int:
    """Delete runs of schedules that are that old, at most `batch`; return their number."""
    return len(rows("forget_runs", seconds=seconds, batch=batch, now=now))


def gone_tenants() -> list[int]:
    """The tenants that have jobs, lanes or a bucket, and do not exist."""
    return [tenant for (tenant,) in rows("gone_tenants")]


def without_queue(batch: int) -> list[int]:
    """At most `batch` ready jobs whose queue does not exist."""
    return [job_id for (job_id,) in rows("without_queue", batch=batch)]


def forget_notices(notifiers: Sequence[str], seconds: float, now: datetime | None = None) -> None:
    """Delete the records of other notifiers than these, if they are that old."""
    rows("forget_notices", notifiers=list(notifiers), seconds=seconds, now=now)
