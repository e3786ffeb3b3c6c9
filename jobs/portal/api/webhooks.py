"""Webhooks of the caller's tenant: addresses of its own system that get a message when jobs end.

Another tenant's webhook looks as if it did not exist.
"""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from ninja import Router, Schema
from ninja import Status as Answer
from pydantic import Field

from jobs.engine.webhooks import endpoints
from jobs.http import idempotency, inputs, schemas
from jobs.http.auth import CallerRequest
from jobs.http.problems import existing
from jobs.models import WebhookEndpoint
from jobs.reading.webhooks import standings
from tenants.models import Tenant

router = Router(tags=["webhooks"])


class NewEndpoint(inputs.Body):
    """The address that gets the messages, and the jobs that they are about."""

    model_config = inputs.with_example(url="https://example.com/hooks/jobs", types=["reports.datareport.execute"])

    url: inputs.Text = Field(
        examples=["https://example.com/hooks/jobs"], description="An https address with a public host name."
    )
    types: list[inputs.Text] = Field(
        [], max_length=endpoints.MOST_NAMED, description="Job types, such as reports.datareport.execute. Empty: all."
    )
    batches: list[inputs.Text] = Field(
        [],
        max_length=endpoints.MOST_NAMED,
        description="Names of batches. Empty: all jobs, also jobs without a batch.",
    )


class Endpoint(Schema):
    id: int
    url: str
    types: list[str]
    batches: list[str]
    created_at: datetime
    failing_since: datetime | None = Field(
        description="The first failure since the last success; after 3 days the endpoint is switched off."
    )
    last_error: str
    next_try_at: datetime | None = Field(description="While it fails: the moment of the next try.")
    off_at: datetime | None = Field(description="When it was switched off; nothing is sent to it. Null: it is on.")
    waiting: int = Field(description="Messages that wait, counted up to 10,000. At most 100,000 are kept.")
    oldest_waiting_at: datetime | None = Field(
        description="When the job of the oldest waiting message ended. Messages are kept for 3 days."
    )
    delivered: int = Field(description="Messages delivered in the last 24 hours.")
    failed: int = Field(description="Tries that failed in the last 24 hours.")
    dropped: int = Field(description="Messages of the last 24 hours that are not sent: too old, or too many waited.")


class MadeEndpoint(Endpoint):
    secret: str = Field(description="The secret that signs the messages. It is shown only here.")


class Endpoints(Schema):
    webhooks: list[Endpoint]


@router.get("webhooks", response=Endpoints)
def list_webhooks(request: CallerRequest) -> dict[str, Any]:
    """List your webhooks: the addresses that get a message when your jobs end."""
    return {"webhooks": [standing.as_document() for standing in standings(endpoints_of(request.auth.tenant))]}


@router.post("webhooks", response={201: MadeEndpoint})
def add_webhook(request: CallerRequest, new: NewEndpoint) -> Answer[dict[str, Any]]:
    """Add an endpoint. It gets messages about jobs that are submitted from now on."""
    made, secret = endpoints.add(request.auth.tenant, new.url, new.types, new.batches)
    return Answer(201, _as_document(request, made.pk) | {"secret": secret})


@router.delete("webhooks/{endpoint_id}", response={204: None})
def remove_webhook(request: CallerRequest, endpoint_id: inputs.PathId) -> Answer[None]:
    """Remove an endpoint: nothing more is sent to it, and waiting messages are dropped."""
    endpoints.remove(_endpoint_of(request, endpoint_id))
    return Answer(204, None)


@router.post("webhooks/{endpoint_id}/switch-on", response=Endpoint, openapi_extra=idempotency.PARAMETER)
@idempotency.repeatable
def switch_webhook_on(request: CallerRequest, endpoint_id: inputs.PathId) -> HttpResponse:
    """Switch an endpoint on again: waiting messages are sent. There are none about jobs that ended while it was off."""
    endpoints.switch_on(_endpoint_of(request, endpoint_id))
    return schemas.answer(200, _as_document(request, endpoint_id))


@router.post("webhooks/{endpoint_id}/switch-off", response=Endpoint, openapi_extra=idempotency.PARAMETER)
@idempotency.repeatable
def switch_webhook_off(request: CallerRequest, endpoint_id: inputs.PathId) -> HttpResponse:
    """Send nothing to an endpoint until it is switched on. Waiting messages are kept for three days."""
    endpoints.switch_off(_endpoint_of(request, endpoint_id))
    return schemas.answer(200, _as_document(request, endpoint_id))


@router.post("webhooks/{endpoint_id}/try-now", response=Endpoint, openapi_extra=idempotency.PARAMETER)
@idempotency.repeatable
def try_webhook_now(request: CallerRequest, endpoint_id: inputs.PathId) -> HttpResponse:
    """Send the waiting messages of an endpoint now, not at its next try."""
    endpoints.try_now(_endpoint_of(request, endpoint_id))
    return schemas.answer(200, _as_document(request, endpoint_id))


@router.post("webhooks/{endpoint_id}/replace-secret", response=MadeEndpoint)
def replace_webhook_secret(request: CallerRequest, endpoint_id: inputs.PathId) -> dict[str, Any]:
    """Get a new secret. For a day messages have two signatures: with the new secret, and with the former one."""
    secret = endpoints.replace_secret(_endpoint_of(request, endpoint_id))
    return _as_document(request, endpoint_id) | {"secret": secret}


def endpoints_of(tenant: Tenant) -> QuerySet[WebhookEndpoint]:
    return WebhookEndpoint.objects.filter(tenant=tenant).order_by("pk")


def _endpoint_of(request: CallerRequest, endpoint_id: int) -> WebhookEndpoint:
    return existing(endpoints_of(request.auth.tenant).filter(pk=endpoint_id).first(), "webhook")


def _as_document(request: CallerRequest, endpoint_id: int) -> dict[str, Any]:
    return standings([_endpoint_of(request, endpoint_id)])[0].as_document()
