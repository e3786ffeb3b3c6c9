"""The verbs that people use: cancel, revive, discard; and the queue that always exists."""

from collections.abc import Sequence

from jobs.conf import settings
from jobs.lifecycle import Status
from jobs.models import ERASED, EXPIRED
from jobs.store.messages import ring_to_stop
from jobs.store.owner import TenantId, tenant_or_any
from jobs.store.rows import Applied, moved, rows
from jobs.store.session import session
from plumbing.names import named


def cancel(ids: Sequence[int], *, tenant_id: TenantId) -> list[Applied]:
    """blocked, scheduled, created or queued -> cancelled."""
    return moved("cancel", rows("cancel", ids=list(ids), tenant_id=tenant_or_any(tenant_id)))


def request_cancel(ids: Sequence[int], *, tenant_id: TenantId) -> list[Applied]:
    """Ask running jobs to stop; their holders carry it out."""
    requested = [Applied(*row) for row in rows("request_cancel", ids=list(ids), tenant_id=tenant_or_any(tenant_id))]
    if requested:
        ring_to_stop([job.id for job in requested])
    return requested


def revive(job_id: int, *, tenant_id: TenantId) -> bool:
    """error, dead or cancelled -> created; or -> blocked (rejoin), if it is in a sequence."""
    revived = rows("revive", id=job_id, tenant_id=tenant_or_any(tenant_id), erased=ERASED)
    for *_, status in revived:
        moved("rejoin" if status == Status.BLOCKED else "revive", [row[:3] for row in revived])
    return bool(revived)


def backlog(tenant_id: int) -> tuple[int, int]:
    """Return the number of the tenant's waiting jobs, including those of this transaction, and their limit."""
    [(waiting, bound)] = rows("backlog", tenant_id=tenant_id, max_waiting=settings.JOBS_MAX_WAITING)
    return waiting, bound


def discard(job_id: int) -> bool:
    """dead -> cancelled."""
    return bool(moved("discard", rows("discard", id=job_id, erased=ERASED)))


def expire_dead(ttl: float, batch: int = 1000) -> list[Applied]:
    """Delete at most `batch` jobs that have been dead for `ttl` seconds."""
    return moved("expire", rows("expire_dead", ttl=ttl, batch=batch))


def lapse(batch: int = 1000) -> list[Applied]:
    """blocked, scheduled or created -> cancelled, for at most `batch` jobs whose time to start has passed."""
    return moved("lapse", rows("lapse", batch=batch), reason=EXPIRED)


def create_queue(name: str) -> None:
    """Create a queue, unless it exists, or there are no tables (any more)."""
    if named("queues") in session().introspection.table_names():
        rows("create_queue", name=name)
