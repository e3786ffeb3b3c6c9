"""The lanes and queues that jobs hold now, for operators' pages, commands and API. Reads only."""

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from jobs.models import Hold, Queue
from jobs.store import WHOLE_QUEUE
from tenants.models import Tenant
from tenants.tenant_model import all_tenants

MOST = 100  # lines that are listed


@dataclass(frozen=True)
class HeldLine:
    """A job holds its lane, or its queue.

    tenant: whose lane it is; None: the whole queue.
    why: what the job said; "" for nothing.
    """

    queue: str
    tenant: Tenant | None
    until: datetime
    job_id: int
    why: str


def held_lines(queue_id: int | None = None) -> list[HeldLine]:
    """Return what is held, whole queues first, each with its latest hold: the first MOST of this queue, or of all."""
    held = Hold.objects.filter(until__gt=timezone.now(), **({} if queue_id is None else {"queue_id": queue_id}))
    latest = held.order_by("tenant_id", "queue_id", "-until").distinct("tenant_id", "queue_id")[:MOST]
    queues = Queue.objects.in_bulk({hold.queue_id for hold in latest})
    tenants = all_tenants().in_bulk({hold.tenant_id for hold in latest})
    return [
        HeldLine(queues[hold.queue_id].name, tenants.get(hold.tenant_id), hold.until, hold.job_id, hold.why)
        for hold in latest
        if hold.queue_id in queues and (hold.tenant_id == WHOLE_QUEUE or hold.tenant_id in tenants)
    ]
