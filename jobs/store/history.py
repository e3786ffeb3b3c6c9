"""Move jobs that ended a while ago into the history, and back."""

from datetime import datetime, timedelta

from jobs.lifecycle import Status
from jobs.models import ERASED, Job
from jobs.store.leading import database_now
from jobs.store.owner import TenantId, tenant_or_any
from jobs.store.rows import moved, rows


def next_to_archive(after: float, since: datetime) -> datetime | None:
    """Return the end of the first job that ended since `since`, and at least `after` seconds ago; dead ones stay."""
    until = database_now() - timedelta(seconds=after)
    ended = Job.objects.filter(died_at=None, end_time__gte=since, end_time__lt=until)
    return ended.order_by("end_time").values_list("end_time", flat=True).first()


def archive(after: float, since: datetime, until: datetime, *, batch: int = 500) -> int:
    """Move at most `batch` jobs that ended from `since` on, and before `until`; return their number."""
    return len(moved("archive", rows("archive", after=after, since=since, until=until, batch=batch)))


def restore(job_id: int, *, tenant_id: TenantId) -> bool:
    """error or cancelled in the history -> created; or -> blocked (block), if it is in a sequence."""
    restored = rows("restore", id=job_id, tenant_id=tenant_or_any(tenant_id), erased=ERASED)
    for *_, status in restored:
        moved("block" if status == Status.BLOCKED else "restore", [row[:3] for row in restored])
    return bool(restored)


def forget_old(batch: int = 1000) -> int:
    """Delete archived jobs of tenants with a shorter retention; return their number, at most `batch`."""
    count: int = rows("forget_old", batch=batch)[0][0]
    return count
