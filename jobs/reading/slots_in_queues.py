"""The slots of a tenant in the queues where it may not hold all of them."""

from dataclasses import dataclass

from django.db.models import Count

from jobs.models import Job
from tenants.models import TenantQueue


@dataclass(frozen=True)
class SlotsInQueue:
    queue: str
    in_use: int
    limit: int


def slots_in_queues(limits: TenantQueue) -> list[SlotsInQueue]:
    """Return the queues with such a limit in which the tenant holds slots, by name. Index: jobs_one_job_per_slot."""
    held = (
        Job.objects.filter(tenant=limits.tenant_id, slot__isnull=False)
        .values_list("queue__name", "queue__tenant_slots")
        .annotate(in_use=Count("pk"))
        .order_by("queue__name")
    )
    each = ((name, in_use, limits.queue_slots.get(name, of_all)) for name, of_all, in_use in held)
    return [SlotsInQueue(name, in_use, limit) for name, in_use, limit in each if limit is not None]
