"""The endpoints at which the caller's own system is told how its jobs ended; another tenant's is like none at all."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from ninja import Router, Schema
from ninja import Status as Answer
from pydantic import Field

from jobs.engine.webhooks import endpoints
from jobs.models import WebhookEndpoint
from jobs.portal.api import inputs
from jobs.portal.api.auth import CallerRequest
from jobs.portal.api.problems import existing
from tenants.models import Tenant

router = Router(tags=["webhooks"])


class NewEndpoint(inputs.Body):
    """Where to tell it, and of which jobs."""

    url: inputs.Text = Field(examples=["https://example.com/hooks/jobs"], description="https, of the public internet.")
    types: list[inputs.Text] = Field(
        [], max_length=endpoints.MOST_NAMED, description="Job types, as reports.datareport.execute. Empty: all."
    )
    batches: list[inputs.Text] = Field(
        [], max_length=endpoints.MOST_NAMED, description="Names of batches. Empty: all jobs, also those of no batch."
    )


class Endpoint(Schema):
    id: int
    url: str
    types: list[str]
    batches: list[str]
    created_at: datetime
    failing_since: datetime | None = Field(
        description="The first failure since the last success; after 3 days it is off."
    )
    last_error: str
    off_at: datetime | None = Field(description="Since when nothing is sent to it. Null: it is on.")


class MadeEndpoint(Endpoint):
    secret: str = Field(description="What messages are signed with. Nobody is shown it again.")


class Endpoints(Schema):
    webhooks: list[Endpoint]


@router.get("webhooks", response=Endpoints)
def list_webhooks(request: CallerRequest) -> dict[str, Any]:
    """The endpoints that are told how your jobs end."""
    return {"webhooks": list(of(request.auth.tenant))}


@router.post("webhooks", response={201: MadeEndpoint})
def add_webhook(request: CallerRequest, new: NewEndpoint) -> Answer[dict[str, Any]]:
    """Add an endpoint. It is told of jobs that are submitted from now on."""
    made, secret = endpoints.add(request.auth.tenant, new.url, new.types, new.batches)
    made.refresh_from_db()
    return Answer(201, Endpoint.from_orm(made).dict() | {"secret": secret})


@router.delete("webhooks/{endpoint_id}", response={204: None})
def remove_webhook(request: CallerRequest, endpoint_id: inputs.PathId) -> Answer[None]:
    """Remove an endpoint: nothing more is sent to it."""
    endpoints.remove(_one(request, endpoint_id))
    return Answer(204, None)


@router.post("webhooks/{endpoint_id}/switch-on", response=Endpoint)
def switch_webhook_on(request: CallerRequest, endpoint_id: inputs.PathId) -> WebhookEndpoint:
    """Send to an endpoint again that was switched off, because it had failed for three days."""
    endpoints.switch_on(_one(request, endpoint_id))
    return _one(request, endpoint_id)


def of(tenant: Tenant) -> QuerySet[WebhookEndpoint]:
    return WebhookEndpoint.objects.filter(tenant=tenant).order_by("pk")


def _one(request: CallerRequest, endpoint_id: int) -> WebhookEndpoint:
    return existing(of(request.auth.tenant).filter(pk=endpoint_id).first(), "webhook")
