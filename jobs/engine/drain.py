"""Ask a worker to take no more jobs, and to stop when those that it runs have ended."""

from uuid import UUID

from django.db import transaction

from jobs import store
from jobs.models import Worker
from tenants import audit


def drain(worker: UUID) -> bool:
    """False if it is gone, or was asked before. Its heartbeat hears of it; it has no capacity from now on."""
    with transaction.atomic():
        name = store.request_drain(worker)
        if name is not None:
            audit.note("drained", Worker, [(worker, name)], tenant_id=None)
    return name is not None
