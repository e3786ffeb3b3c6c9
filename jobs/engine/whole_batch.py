"""Cancel a batch, or revive what failed of it: one action, as the audit log sees it, part by part."""

from collections.abc import Callable
from uuid import uuid4

from jobs import store
from jobs.engine.cancel import cancel
from jobs.engine.revive import revive
from jobs.store import TenantId
from tenants import audit

PART = 100  # jobs of one transaction: one dispatch for all, and short locks
MOST = 5000  # jobs of one call, about ten seconds: who asks over HTTP does not wait for ever


def cancel_batch(batch_id: int, *, tenant_id: TenantId) -> int:
    """Cancel what waits of it, and ask what runs to stop; return how many, MOST or so: then call again.

    tenant_id: the tenant that must own it.
    """

    def apply(job_id: int) -> bool:
        cancel(job_id, tenant_id=tenant_id)
        return True

    return _each(apply, store.open_members, batch_id, tenant_id)


def revive_batch(batch_id: int, *, tenant_id: TenantId) -> int:
    """Give what did not end well of it a new series of attempts; return how many, MOST or so: then call again.

    Raises TooManyWaiting; those before are revived.
    """
    return _each(lambda job_id: revive(job_id, tenant_id=tenant_id), store.failed_members, batch_id, tenant_id)


def _each(apply: Callable[[int], bool], read: Callable[..., list[int]], batch_id: int, tenant_id: TenantId) -> int:
    bulk, applied, last = uuid4(), 0, 0
    while applied < MOST and (members := read(batch_id, tenant_id=tenant_id, after=last, most=PART)):
        with audit.in_bulk(bulk, f"batch:{batch_id}"):
            applied += sum(apply(job_id) for job_id in members)
        last = members[-1]
    return applied
