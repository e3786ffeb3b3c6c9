"""Pages of the member's tenant itself: what it used, by day, for its bill; and where it is told how its jobs end."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from jobs.calls.refusals import InvalidRequest
from jobs.models import WebhookEndpoint
from jobs.pages import regions
from jobs.reading import usage
from jobs.reading.webhooks import standings
from tenants.members import for_members
from tenants.models import Tenant


@require_safe
@for_members
def used(request: HttpRequest, tenant: Tenant) -> HttpResponse:
    """`from`, `to`: days. What is no day, and a period that ends before it begins, counts as this month."""
    now = timezone.now()
    try:
        asked = usage.Asked.of(request.GET.get("from"), request.GET.get("to"), None, now=now, own=True)
    except InvalidRequest:
        asked = usage.Asked.of(None, None, None, now=now, own=True)
    found = usage.read(asked, tenant.pk, now)
    context = {"tenant": tenant, "asked": asked, "usage": found, "lines": [(line, tenant) for line in found.lines]}
    return regions.page(request, "jobs/members/usage", (), context, {"every": 0})


@require_safe
@for_members
def webhooks(request: HttpRequest, tenant: Tenant) -> HttpResponse:
    """Each, whether it works, and what waits to be told."""
    found = WebhookEndpoint.objects.filter(tenant=tenant).order_by("pk")
    context = {"tenant": tenant, "now": timezone.now(), "webhooks": standings(found)}
    return regions.page(request, "jobs/members/webhooks", (), context, {"every": 0})
