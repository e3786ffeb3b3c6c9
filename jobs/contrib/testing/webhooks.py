"""The messages that tenants' systems would get: a test posts none."""

from typing import Any

from jobs.engine.webhooks.outbox import OutboxMessage
from jobs.models import WebhookEndpoint, WebhookMessage
from tenants.models import Tenant


def webhook_messages(tenant: Tenant) -> list[dict[str, Any]]:
    """Return the messages that wait for the tenant's endpoints, as they would be posted, in the order of the ends."""
    endpoints = list(WebhookEndpoint.objects.filter(tenant=tenant).values_list("pk", flat=True))
    found = WebhookMessage.objects.filter(endpoint_id__in=endpoints).order_by("event", "endpoint_id")
    return [OutboxMessage(one.event, one.ended_at, one.user_key, one.data).body() for one in found]
