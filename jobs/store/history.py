"""Move jobs that ended a while ago into the history, and back."""

from datetime import datetime

from jobs.models import ERASED
from jobs.store.owner import TenantId, tenant_or_any
from jobs.store.rows import moved, rows


def next_to_archive(status: str, after: float, since: datetime, now: datetime | None = None) -> datetime | None:
    """The end of the first job of this status that ended `after` seconds ago or earlier, but not before `since`."""
    found = rows("next_to_archive", status=status, after=after, since=since, now=now)
    return found[0][0] if found else None


def archive(
    status: str, after: float, since: datetime, until: datetime, *, batch: int = 500, now: datetime | None = None
) -> int:
    """Move at most `batch` jobs of this status that ended from `since` on, and before `until`; return their number."""
    return len(
        moved("archive", rows("archive", status=status, after=after, since=since, until=until, batch=batch, now=now))
    )


def restore(job_id: int, *, tenant_id: TenantId, now: datetime | None = None) -> bool:
    """error or cancelled in the history -> created."""
    return bool(
        moved("restore", rows("restore", id=job_id, tenant_id=tenant_or_any(tenant_id), erased=ERASED, now=now))
    )


def forget_old(batch: int = 1000, now: datetime | None = None) -> int:
    """Delete archived jobs of tenants with a shorter retention; return their number, at most `batch`."""
    count: int = rows("forget_old", batch=batch, now=now)[0][0]
    return count
