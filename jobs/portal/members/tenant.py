"""The pages of the member's tenant itself: its usage by day, for its bill; and its webhooks."""

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
    """Show the usage from day `from` to day `to`. An invalid day, or an end before the start, counts as this month."""
    now = timezone.now()
    try:
        asked = usage.UsageRequest.parse(
            request.GET.get("from"), request.GET.get("to"), None, now=now, of_one_tenant=True
        )
    except InvalidRequest:
        asked = usage.UsageRequest.parse(None, None, None, now=now, of_one_tenant=True)
    found = usage.read(asked, tenant.pk, now)
    context = {"tenant": tenant, "asked": asked, "usage": found, "lines": [(line, tenant) for line in found.lines]}
    return regions.page(request, "jobs/members/usage", (), context, {"every": 0})


@require_safe
@for_members
def webhooks(request: HttpRequest, tenant: Tenant) -> HttpResponse:
    """Show each webhook, whether it works, and the messages that wait for it."""
    found = WebhookEndpoint.objects.filter(tenant=tenant).order_by("pk")
    context = {"tenant": tenant, "now": timezone.now(), "webhooks": standings(found)}
    return regions.page(request, "jobs/members/webhooks", (), context, {"every": 0})
