"""Ask a worker to take no more jobs, and to stop when those that it runs have ended."""

from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from jobs.models import Worker
from tenants import audit


def drain(worker: UUID) -> bool:
    """Ask a worker to drain; return False if it is gone, or was asked before.

    The worker learns of it at its next heartbeat. It has no capacity from now on.
    """
    with transaction.atomic():
        present = Worker.objects.filter(pk=worker, gone_at=None, drain_requested_at=None)
        requested = present.update(drain_requested_at=Now(), concurrency=0) > 0
        if requested:
            audit.note("drained", Worker, [(worker, Worker.objects.get(pk=worker).name)], tenant_id=None)
    return requested
