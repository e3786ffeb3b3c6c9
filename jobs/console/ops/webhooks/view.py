"""The page of webhooks: the addresses to which the scheduler posts how jobs ended, their state, and their actions."""

from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html

from jobs.console.operations.named import tenant_named
from jobs.console.ops.shared import live, snapshot
from jobs.console.ops.shared.access import action_for, page_for
from jobs.console.ops.shared.answers import done
from jobs.console.ops.webhooks.reads import bars_of_last_day
from jobs.engine.webhooks import endpoints
from jobs.models import WebhookEndpoint
from jobs.pages.answers import existing
from jobs.pages.typed import number, texts
from jobs.reading.webhooks import standings
from tenants.conf import TENANT_SLUG

A_PAGE = 50
MAX_PAGE = 9_999


@page_for("jobs.view_webhookendpoint")
def show(request: HttpRequest) -> HttpResponse:
    """List the webhooks: first those that fail, the longest failing first.

    `tenant`: only those of this tenant
    `page`: the number of the page, from 0
    """
    slug = texts(request.GET, ("tenant",))["tenant"]
    page = number(request.GET.get("page", ""), MAX_PAGE) or 0
    found = WebhookEndpoint.objects.select_related("tenant").order_by("failing_since", "pk")
    if slug:
        found = found.filter(**{f"tenant__{TENANT_SLUG}": slug})
    listed = list(found[page * A_PAGE : (page + 1) * A_PAGE + 1])
    shown = standings(listed[:A_PAGE])
    context = {
        "webhooks": shown,
        "bars": bars_of_last_day([one.endpoint.pk for one in shown], snapshot.current().now),
        "slug": slug,
        "earlier": page - 1 if page else None,
        "later": page + 1 if len(listed) > A_PAGE else None,
    }
    return live.page(request, "webhooks", "Webhooks", ("endpoints",), context, every=live.REFRESH_SECONDS * 5)


@action_for("jobs.add_webhookendpoint")
def add(request: HttpRequest) -> HttpResponse:
    """Add a webhook. The next page shows its secret, and no later page does."""
    slug, url, types, batches = texts(request.POST, ("tenant", "url", "types", "batches")).values()
    named = [name.strip() for name in batches.split(",") if name.strip()]
    made, secret = endpoints.add(tenant_named(slug), url, types.replace(",", " ").split(), named)
    told = "Webhook {} gets messages about jobs submitted from now on. Its secret is shown only now: <code>{}</code>"
    return done(request, format_html(told, made.pk, secret))


@action_for("jobs.delete_webhookendpoint")
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    endpoints.remove(_endpoint(pk))
    return done(request, f"Webhook {pk} is removed.")


@action_for("jobs.change_webhookendpoint")
def switch_on(request: HttpRequest, pk: int) -> HttpResponse:
    endpoints.switch_on(_endpoint(pk))
    return done(request, f"Webhook {pk} is on.")


@action_for("jobs.change_webhookendpoint")
def switch_off(request: HttpRequest, pk: int) -> HttpResponse:
    endpoints.switch_off(_endpoint(pk))
    return done(request, f"Webhook {pk} is off. Its waiting messages are kept for three days.")


@action_for("jobs.change_webhookendpoint")
def try_now(request: HttpRequest, pk: int) -> HttpResponse:
    endpoints.try_now(_endpoint(pk))
    return done(request, f"Webhook {pk} will be tried now.")


@action_for("jobs.change_webhookendpoint")
def replace_secret(request: HttpRequest, pk: int) -> HttpResponse:
    """Replace the secret of a webhook. The next page shows the new one, and no later page does."""
    secret = endpoints.replace_secret(_endpoint(pk))
    told = "For a day webhook {} signs with both secrets. The new one is shown only now: <code>{}</code>"
    return done(request, format_html(told, pk, secret))


def _endpoint(pk: int) -> WebhookEndpoint:
    return existing(WebhookEndpoint.objects.filter(pk=pk).first(), "There is no such webhook.")
