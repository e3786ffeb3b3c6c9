"""The statistics of the last 24 hours, of all queues and of each tenant."""

from django.utils import timezone
from ninja import Router

from jobs.console.api.auth import OperatorRequest, may
from jobs.console.api.changes import tenant_at
from jobs.portal.api.last_day import LastDay, QueuesLastDay
from jobs.reading import last_day

router = Router(tags=["operators"], auth=may("jobs.view_job"))


@router.get("stats", response=QueuesLastDay)
def read_queue_stats(request: OperatorRequest) -> QueuesLastDay:
    """Read what ended in the last 24 hours, by queue and by job type, of all tenants."""
    return QueuesLastDay.of(last_day.of_queues(timezone.now()))


@router.get("tenants/{slug}/stats", response=LastDay)
def read_tenant_stats(request: OperatorRequest, slug: str) -> LastDay:
    """Read what ended in the last 24 hours of a tenant, as the tenant sees it."""
    return LastDay.of(last_day.of_tenant(tenant_at(slug).pk, timezone.now()))
