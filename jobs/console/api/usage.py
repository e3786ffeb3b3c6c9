"""The usage of tenants, for their bills; and what ended in the last 24 hours, by queue or for one tenant."""

from typing import Any

from django.utils import timezone
from ninja import Query, Router
from pydantic import Field

from jobs.console.api.auth import OperatorRequest, may
from jobs.console.api.changes import tenant_at
from jobs.console.operations.named import tenant_named
from jobs.http.inputs import Text
from jobs.http.last_day import LastDay, QueuesLastDay
from jobs.http.usage import Period, Usage
from jobs.reading import last_day, usage

VIEW_JOBS = may("jobs.view_job")
router = Router(tags=["operators"], auth=may("tenants.view_tenantqueue"))


class AnyPeriod(Period):
    by: Text | None = Field(
        None, description="How to group, with commas: by tenant, day, queue, type, outcome. Default: tenant."
    )
    tenant: Text | None = Field(None, description="Only this tenant: its slug.")


@router.get("usage", response=Usage, by_alias=True)
def read_usage_of_tenants(request: OperatorRequest, period: Query[AnyPeriod]) -> dict[str, Any]:
    """Read what tenants used, as they are billed for it. A day is closed five minutes after its end (UTC)."""
    now = timezone.now()
    query = usage.UsageRequest.parse(period.starts, period.ends, period.by, now=now)
    tenant = None if period.tenant is None else tenant_named(period.tenant).pk
    answer = usage.read(query, tenant, now)
    return usage.document(answer)


@router.get("stats", auth=VIEW_JOBS, response=QueuesLastDay)
def read_queue_stats(request: OperatorRequest) -> QueuesLastDay:
    """Read what ended in the last 24 hours, by queue and by job type, of all tenants."""
    return QueuesLastDay.of(last_day.of_queues(timezone.now()))


@router.get("tenants/{slug}/stats", auth=VIEW_JOBS, response=LastDay)
def read_tenant_stats(request: OperatorRequest, slug: str) -> LastDay:
    """Read what ended in the last 24 hours of a tenant, as the tenant sees it."""
    return LastDay.of(last_day.of_tenant(tenant_at(slug).pk, timezone.now()))
