"""Batches: create them, count the added jobs, read their progress."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef

from jobs.models import Job, JobEdge
from jobs.store.owner import TenantId, owned, tenant_or_any
from jobs.store.rows import objects, rows
from plumbing.bounds import LARGEST_ID, is_id


@dataclass(frozen=True)
class Progress:
    """A batch, and the number of its jobs in each state, at most a second old.

    cancelling: whether a cancel is going through its jobs.
    oldest: when the first of its jobs that are under way was added.
    """

    id: int
    tenant_id: int
    name: str
    user_key: str
    created_at: datetime
    closed_at: datetime | None
    cancelling: bool
    total: int
    success: int
    error: int
    dead: int
    cancelled: int
    running: int
    oldest: datetime | None

    @property
    def ended(self) -> int:
        return self.success + self.failed

    @property
    def failed(self) -> int:
        """The number of jobs that have ended without success."""
        return self.error + self.dead + self.cancelled

    @property
    def waiting(self) -> int:
        return max(self.total - self.ended - self.running, 0)

    @property
    def share(self) -> float:
        """The share of its jobs that have ended, 0 to 1; 1 for an empty batch."""
        return self.ended / self.total if self.total else 1.0

    @property
    def is_complete(self) -> bool:
        """Return whether all jobs have ended, and no more can be added."""
        return self.closed_at is not None and self.ended == self.total


def open_batch(name: str, user_key: str, *, tenant_id: int) -> int | None:
    """Create a batch; return its number; None if there is no such tenant."""
    opened = rows("open_batch", name=name, user_key=user_key, tenant_id=tenant_id)
    return opened[0][0] if opened else None


def grow_batch(batch_id: int, jobs: int, *, tenant_id: int, caller: int | None, attempt: int) -> bool:
    """Count new jobs of a batch; return False if it is closed, and the caller is no running job of it."""
    grown = rows("grow_batch", id=batch_id, jobs=jobs, tenant_id=tenant_id, caller=caller, attempt=attempt)
    return bool(grown)


def close_batch(batch_id: int, *, tenant_id: TenantId) -> bool:
    """Close a batch; return False if there is no such open batch."""
    return bool(rows("close_batch", id=batch_id, tenant_id=tenant_or_any(tenant_id)))


def close_forgotten(seconds: float, batch: int) -> list[int]:
    """Close at most `batch` batches whose jobs have ended, and that got no job for `seconds`; return their numbers."""
    return [batch_id for (batch_id,) in rows("close_forgotten", seconds=seconds, batch=batch)]


def begin_cancel(batch_id: int, bulk: UUID, *, tenant_id: TenantId) -> bool:
    """Store that the jobs of a batch are to be cancelled; return False if there is no such batch."""
    return bool(rows("begin_cancel", id=batch_id, bulk=bulk, tenant_id=tenant_or_any(tenant_id)))


def waiting_for(batch_id: int, *, tenant_id: TenantId) -> list[tuple[int, bool]]:
    """Return the first jobs that wait for a batch, each with whether any end will do for it."""
    waits = Job.objects.filter(pk=OuterRef("follower_id"), blocked_at__isnull=False, **owned(tenant_id))
    edges = JobEdge.objects.filter(Exists(waits), predecessor_id=batch_id).order_by("follower_id")
    return list(edges.values_list("follower_id", "whatever")[:10])


def read_batches(
    ids: Sequence[int] | None = None, *, tenant_id: TenantId, before: int = LARGEST_ID, most: int = 100
) -> list[Progress]:
    """Return the batches with these numbers, or the newest ones before the number `before`."""
    listed = None if ids is None else list(ids)
    return objects(Progress, "read_batches", ids=listed, tenant_id=tenant_or_any(tenant_id), before=before, most=most)


def read_batch(batch_id: int, *, tenant_id: TenantId) -> Progress | None:
    batches = read_batches([batch_id], tenant_id=tenant_id) if is_id(batch_id) else []
    return batches[0] if batches else None


def forget_batches(seconds: float, batch: int) -> int:
    """Delete at most `batch` batches of that age of which nothing is left; return how many."""
    return len(rows("forget_batches", seconds=seconds, batch=batch))
