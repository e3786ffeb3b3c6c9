"""Cancel a batch, close it, or revive its failed jobs: part by part, but one action in the audit log.

A cancel is stored (`batch_cancels`) before it begins. The caller goes through the jobs for a moment; the clock does the
others, also if the caller's process died.
"""

import time
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.db.models import QuerySet

from jobs import store
from jobs.calls.refusals import TooManyWaiting
from jobs.engine.door import dispatch
from jobs.engine.verbs.cancel import Cancellation, cancel_all
from jobs.engine.verbs.revive import revive
from jobs.lifecycle import FINAL, Status
from jobs.models import ERASED, AnyJob, Batch, BatchCancel, Job
from jobs.store import EVERY_TENANT, TenantId
from jobs.store.owner import owned
from tenants import audit

PART = 100  # jobs of one transaction: one dispatch for all, and short locks
MOST = 5000  # jobs of one revival, about ten seconds: a caller over HTTP does not wait for ever
SECONDS = 2.0  # of a cancel for which its caller waits; the clock takes as long at a time


def cancel_batch(batch_id: int, *, tenant_id: TenantId) -> int:
    """Cancel the waiting jobs of a batch, and ask its running ones to stop; return how many so far.

    The clock does the others.

    tenant_id: the tenant that must own the batch; EVERY_TENANT for an operator.
    """
    applied = 0
    with transaction.atomic():
        if not store.begin_cancel(batch_id, uuid4(), tenant_id=tenant_id):
            return 0
        while not applied and (part := _cancel_part(batch_id)) is not None:
            applied = part  # now the audit log names the actor, whichever process goes on
    return applied + _cancel([batch_id])


def go_on_cancelling() -> int:
    """Go on with the cancels that are under way, a part of each in turn; return the number of jobs. For the clock."""
    # In random order: a cancel that is held up must not hold up the same others each time.
    return _cancel(list(BatchCancel.objects.order_by("?").values_list("batch_id", flat=True)))


def close_batch(batch_id: int, *, tenant_id: TenantId) -> bool:
    """Close a batch that was left open; return False if there is no such open batch."""
    with transaction.atomic():
        if not store.close_batch(batch_id, tenant_id=tenant_id):
            return False
        batch = Batch.objects.get(pk=batch_id)
        audit.note("closed", Batch, [(batch_id, str(batch))], tenant_id=batch.tenant_id)
        dispatch.on_commit()
    return True


def revive_batch(batch_id: int, *, tenant_id: TenantId) -> int:
    """Give the failed and cancelled jobs of a batch a new series of attempts; return how many.

    After about MOST jobs this stops; the caller may call again. Raises TooManyWaiting; the jobs before are revived.
    """
    bulk, applied, last = uuid4(), 0, 0
    while applied < MOST and (members := failed_members(batch_id, last, tenant_id=tenant_id)):
        full = None
        with audit.in_bulk(bulk, _words(batch_id)):
            try:
                for last in members:
                    applied += revive(last, tenant_id=tenant_id)
            except TooManyWaiting as refused:  # raised after the block, or the jobs before would be rolled back
                full = refused
        if full is not None:
            raise full
    return applied


def _cancel(batches: list[int]) -> int:
    applied, ends = 0, time.monotonic() + SECONDS
    while batches and time.monotonic() < ends:
        parts = {batch_id: _cancel_part(batch_id) for batch_id in batches}
        applied += sum(part or 0 for part in parts.values())
        batches = [batch_id for batch_id, part in parts.items() if part is not None]
    return applied


def _cancel_part(batch_id: int) -> int | None:
    """Cancel the next jobs in one transaction, in the name of the actor who asked; return how many.

    None: no job is left now, or another process has the cancel.
    """
    with transaction.atomic():
        under_way = BatchCancel.objects.select_for_update(skip_locked=True).filter(batch_id=batch_id).first()
        if under_way is None:
            return None
        owner = EVERY_TENANT if under_way.tenant_id is None else under_way.tenant_id
        stopping = _is_stopping(batch_id)  # read first: once they have ended, all jobs that they have added are there
        members = open_members(batch_id, under_way.after, tenant_id=owner)
        if not members:
            if not stopping:
                under_way.delete()
            return None
        with audit.acting_on(under_way.bulk), audit.in_bulk(under_way.bulk, _words(batch_id)):
            outcomes = cancel_all(members, tenant_id=owner)
        under_way.after = members[-1]
        under_way.save(update_fields=["after"])
    return sum(outcome is not Cancellation.TOO_LATE for outcome in outcomes.values())


def _is_stopping(batch_id: int) -> bool:
    """Return whether jobs of the batch still run that were asked to stop: until they end, they may add others."""
    tenant = Batch.objects.filter(pk=batch_id).values("tenant_id")
    stoppable = Job.objects.filter(tenant_id__in=tenant, slot__isnull=False, cancel_requested_at__isnull=False)
    return stoppable.filter(batch_id=batch_id).exists()


def open_members(batch_id: int, after: int, *, tenant_id: TenantId) -> list[int]:
    """Return the next jobs of the batch after the number `after` that have not ended."""
    return _part(Job.objects.filter(end_time=None), batch_id, after, tenant_id)


def failed_members(batch_id: int, after: int, *, tenant_id: TenantId) -> list[int]:
    """Return the next jobs of the batch after the number `after` that ended without success, and can be revived.

    They may be in the history.

    tenant_id: the tenant that revives them, which cannot revive a job that an operator ended; or EVERY_TENANT.
    """
    failed = AnyJob.objects.filter(status__in=FINAL - {Status.SUCCESS}).exclude(dedup_key=ERASED)
    mine = failed if tenant_id is EVERY_TENANT else failed.filter(barred=False)
    return _part(mine, batch_id, after, tenant_id)


def _part(jobs: QuerySet[Any], batch_id: int, after: int, tenant_id: TenantId) -> list[int]:
    part = jobs.filter(batch_id=batch_id, pk__gt=after, **owned(tenant_id)).order_by("pk")
    return list(part.values_list("pk", flat=True)[:PART])


def _words(batch_id: int) -> str:
    return f"batch:{batch_id}"
