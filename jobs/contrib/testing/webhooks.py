"""The messages that tenants' systems would get: a test posts none."""

from typing import Any

from jobs.engine.webhooks.outbox import OutboxMessage
from jobs.models import WebhookEndpoint, WebhookMessage
from tenants.models import Tenant


def webhook_messages(tenant: Tenant) -> list[dict[str, Any]]:
    """Return the messages that wait for the tenant's endpoints, as they would be posted, in the order of the ends."""
    endpoints = list(WebhookEndpoint.objects.filter(tenant=tenant).values_list("pk", flat=True))
    rows = WebhookMessage.objects.filter(endpoint_id__in=endpoints).order_by("event", "endpoint_id")
    return [OutboxMessage(row.event, row.ended_at, row.user_key, row.data).body() for row in rows]
