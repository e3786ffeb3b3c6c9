"""Webhooks: where tenants' own systems are told how their jobs ended, and whether it works; to add and remove them."""

from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html

from jobs.console.operations.named import tenant_named
from jobs.console.ops import live
from jobs.console.ops.access import action_for, page_for
from jobs.console.ops.answers import done
from jobs.engine.webhooks import endpoints
from jobs.models import WebhookEndpoint
from jobs.pages.answers import existing
from jobs.pages.typed import texts
from tenants.conf import TENANT_SLUG

MOST = 200


@page_for("jobs.view_webhookendpoint")
def show(request: HttpRequest) -> HttpResponse:
    """`tenant`: only this one's. Those that fail come first."""
    slug = texts(request.GET, ("tenant",))["tenant"]
    found = WebhookEndpoint.objects.select_related("tenant").order_by("failing_since", "pk")
    if slug:
        found = found.filter(**{f"tenant__{TENANT_SLUG}": slug})
    return live.page(request, "webhooks", "Webhooks", (), {"webhooks": found[:MOST], "slug": slug}, every=0)


@action_for("jobs.add_webhookendpoint")
def add(request: HttpRequest) -> HttpResponse:
    """The next page tells the secret: nobody is shown it again."""
    slug, url, types, batches = texts(request.POST, ("tenant", "url", "types", "batches")).values()
    named = [name.strip() for name in batches.split(",") if name.strip()]
    made, secret = endpoints.add(tenant_named(slug), url, types.replace(",", " ").split(), named)
    told = "Webhook {} is told of jobs that are submitted from now on. Its secret is shown only now: <code>{}</code>"
    return done(request, format_html(told, made.pk, secret))


@action_for("jobs.delete_webhookendpoint")
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    endpoints.remove(_endpoint(pk))
    return done(request, f"Webhook {pk} is removed.")


@action_for("jobs.change_webhookendpoint")
def switch_on(request: HttpRequest, pk: int) -> HttpResponse:
    endpoints.switch_on(_endpoint(pk))
    return done(request, f"Webhook {pk} is on.")


def _endpoint(pk: int) -> WebhookEndpoint:
    return existing(WebhookEndpoint.objects.filter(pk=pk).first(), "There is no such webhook.")
