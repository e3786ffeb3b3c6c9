"""Webhooks: where tenants' own systems are told how their jobs ended, and whether that works."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from jobs.console.ops import live
from jobs.console.ops.access import page_for
from jobs.models import WebhookEndpoint
from tenants.conf import TENANT_SLUG

MOST = 200


@page_for("jobs.view_webhookendpoint")
def show(request: HttpRequest) -> HttpResponse:
    return listed(request)


def listed(request: HttpRequest, **more: Any) -> HttpResponse:
    """`tenant`: only this one's. Those that fail come first. more: what an action says."""
    slug = request.GET.get("tenant", "").replace("\x00", "").strip()
    found = WebhookEndpoint.objects.select_related("tenant").order_by("failing_since", "pk")
    if slug:
        found = found.filter(**{f"tenant__{TENANT_SLUG}": slug})
    shown = {"webhooks": found[:MOST], "slug": slug, **more}
    return live.page(request, "webhooks", "Webhooks", (), shown, every=0)
