"""Where the member's tenant is told how its jobs end, and whether that works."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from jobs.models import WebhookEndpoint
from jobs.pages import regions
from tenants.members import for_members
from tenants.models import Tenant


@require_safe
@for_members
def show(request: HttpRequest, tenant: Tenant) -> HttpResponse:
    found = WebhookEndpoint.objects.filter(tenant=tenant).order_by("pk")
    context = {"tenant": tenant, "now": timezone.now(), "webhooks": found}
    return regions.page(request, "jobs/members/webhooks", (), context, {"every": 0})
