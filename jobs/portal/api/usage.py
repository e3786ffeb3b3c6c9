"""The endpoint of a tenant's usage, for its bill: attempts, worker-seconds, peak slots. See jobs/reading/usage.py."""

from typing import Any

from django.utils import timezone
from ninja import Query, Router

from jobs.http.auth import CallerRequest
from jobs.http.usage import Period, Usage
from jobs.reading import usage

router = Router(tags=["jobs"])


@router.get("usage", response=Usage, by_alias=True)
def read_usage(request: CallerRequest, period: Query[Period]) -> dict[str, Any]:
    """Read your usage by day, as it is billed. A day is closed five minutes after its end (UTC)."""
    tenant, now = request.auth.tenant, timezone.now()
    query = usage.UsageRequest.parse(period.starts, period.ends, period.by, now=now, of_one_tenant=True)
    answer = usage.read(query, tenant.pk, now)
    return usage.document(answer)
