"""What attempts logged and printed."""

from datetime import datetime

from jobs.store.rows import Started, rows


def keep(job: Started, text: str) -> None:
    """Keep it until the history forgets the job, or somebody erases it."""
    rows("keep_log", tenant_id=job.tenant_id, job_id=job.id, attempt=job.attempt, text=text)


def forget_old(seconds: float, batch: int, now: datetime | None = None) -> int:
    """Delete logs that are that old, or older than their tenant's history; return their number, at most `batch`."""
    return len(rows("forget_old_logs", seconds=seconds, batch=batch, now=now))
