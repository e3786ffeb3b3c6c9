"""The job that delivers a message to an endpoint: retries, limits and dead letters are those of every job."""

import json
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models.functions import Coalesce, Now

from jobs import store, telemetry
from jobs.authoring.current import current_job
from jobs.authoring.decorator import job
from jobs.authoring.retry import Retry
from jobs.calls.refusals import InvalidRequest
from jobs.conf import settings
from jobs.engine.webhooks import posting, signing
from jobs.engine.webhooks.endpoints import QUEUE
from jobs.engine.webhooks.posting import NotDelivered
from jobs.models import WebhookEndpoint
from tenants import audit

PATIENCE = timedelta(days=3)  # with an endpoint
RETRY = Retry.exponential(max_retries=24, base=5, cap=6 * 3600)  # for longer than PATIENCE, so the last try ends that


@job(title="Webhook", queue=QUEUE, timeout=30, dedup=False, retry=RETRY)
def deliver(*, endpoint: int, message: dict[str, Any]) -> str:
    """Post the message, signed, unless its endpoint is gone or off."""
    tenant = current_job().tenant
    to = WebhookEndpoint.objects.filter(pk=endpoint, tenant=tenant, off_at=None).first()
    if to is None:
        return "the endpoint is gone, or off"
    body = json.dumps(message, ensure_ascii=False).encode()
    headers = signing.headers(f"msg_{message['id']}_{to.pk}", store.database_now(), body, to.salt)
    try:
        posting.post(to.url, body, headers, settings.JOBS_WEBHOOK_NETWORKS)
    except (NotDelivered, InvalidRequest) as error:
        _note_failure(to, str(error))
        raise
    WebhookEndpoint.objects.filter(pk=to.pk, failing_since__isnull=False).update(failing_since=None, last_error="")
    return "delivered"


@transaction.atomic  # with its entry in the audit log
def _note_failure(to: WebhookEndpoint, why: str) -> None:
    """After three days without any success it is switched off, and its tenant reads so in the list and the log."""
    mine = WebhookEndpoint.objects.filter(pk=to.pk)
    mine.update(failing_since=Coalesce("failing_since", Now()), last_error=why[:300])
    if mine.filter(failing_since__lt=Now() - PATIENCE, off_at=None).update(off_at=Now()):
        with audit.acting("the scheduler"):
            audit.note("switched off", WebhookEndpoint, [(to.pk, to.url)], {"why": ["", why]}, tenant_id=to.tenant_id)
        telemetry.noticed("webhook endpoint switched off", tenant=to.tenant_id, endpoint=to.pk)
