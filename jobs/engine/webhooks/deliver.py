"""Messages that an earlier version of the scheduler stored as jobs: each goes into the outbox when it runs.

To be deleted when no such job can be left: in the second release after 0.1.0.
"""

from datetime import datetime
from typing import Any

from jobs.authoring.current import current_job
from jobs.authoring.decorator import job
from jobs.models import WebhookEndpoint, WebhookMessage


@job(title="Webhook")
def deliver(*, endpoint: int, message: dict[str, Any]) -> str:
    """Store the message for its endpoint, unless that is gone or off, or has the message already."""
    to = WebhookEndpoint.objects.filter(pk=endpoint, tenant=current_job().tenant, off_at=None)
    if not to.exists():
        return "the endpoint is gone, or off"
    data = dict(message["data"])
    values = {"user_key": data.pop("user"), "data": data, "ended_at": datetime.fromisoformat(message["timestamp"])}
    WebhookMessage.objects.get_or_create(endpoint_id=endpoint, event=message["id"], defaults=values)
    return "stored"
