"""Add, change and remove the endpoints of a tenant. The caller checks the permission; each act is in the audit log."""

import secrets
from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from jobs.calls.refusals import InvalidRequest
from jobs.engine.webhooks import addresses, signing
from jobs.models import WebhookEndpoint, WebhookMessage
from tenants import audit
from tenants.models import Tenant
from tenants.tenant_model import lock_tenant

MOST = 10  # endpoints of a tenant
MOST_NAMED = 100  # types, or batches
BOTH_SECRETS = timedelta(days=1)  # for which messages are signed with the former secret, too


@transaction.atomic
def add(
    tenant: Tenant, url: str, types: Sequence[str] = (), batches: Sequence[str] = ()
) -> tuple[WebhookEndpoint, str]:
    """Add an endpoint; return it with its secret, which cannot be shown again. Raises InvalidRequest."""
    addresses.split(url)
    for field, names in (("types", types), ("batches", batches)):
        if len(names) > MOST_NAMED:
            raise InvalidRequest(field, f"must have at most {MOST_NAMED} entries")
    for named in types:
        if "." not in named or len(named) > 301 or not named.isprintable():  # noqa: PLR2004 - as stored
            raise InvalidRequest("types", f"must be job types such as reports.datareport.execute, not {named[:100]!r}")
    for named in batches:
        if not 0 < len(named) <= 200 or "\x00" in named:  # noqa: PLR2004 - as stored
            raise InvalidRequest("batches", f"must be names of batches, not {named[:100]!r}")
    lock_tenant(tenant)
    if WebhookEndpoint.objects.filter(tenant=tenant).count() >= MOST:
        raise InvalidRequest("url", f"there are {MOST} endpoints already; remove one")
    filters = {"types": list(types), "batches": list(batches)}
    made = WebhookEndpoint.objects.create(tenant=tenant, url=url, salt=secrets.token_hex(32), **filters)
    audit.note("added", WebhookEndpoint, [(made.pk, url)], tenant_id=tenant.pk)
    return made, signing.secret_of(made.salt)


@transaction.atomic
def remove(endpoint: WebhookEndpoint) -> None:
    """Remove an endpoint with its messages: nothing more is sent to it."""
    if WebhookEndpoint.objects.filter(pk=endpoint.pk).delete()[0]:
        WebhookMessage.objects.filter(endpoint_id=endpoint.pk).delete()
        audit.note("deleted", WebhookEndpoint, [(endpoint.pk, endpoint.url)], tenant_id=endpoint.tenant_id)


@transaction.atomic
def replace_secret(endpoint: WebhookEndpoint) -> str:
    """Return a new secret, which cannot be shown again. For a day messages are signed with the former one, too."""
    salt = secrets.token_hex(32)
    mine = WebhookEndpoint.objects.filter(pk=endpoint.pk)
    mine.update(former_salt=F("salt"), former_until=Now() + BOTH_SECRETS, salt=salt)
    audit.note("replaced the secret", WebhookEndpoint, [(endpoint.pk, endpoint.url)], tenant_id=endpoint.tenant_id)
    return signing.secret_of(salt)


@transaction.atomic
def switch_off(endpoint: WebhookEndpoint) -> None:
    """Send nothing to it. Waiting messages are kept for three days; jobs that end from now on make no message."""
    if WebhookEndpoint.objects.filter(pk=endpoint.pk, off_at=None).update(off_at=Now()):
        audit.note("switched off", WebhookEndpoint, [(endpoint.pk, endpoint.url)], tenant_id=endpoint.tenant_id)


@transaction.atomic
def switch_on(endpoint: WebhookEndpoint) -> None:
    """Send to it again, also the waiting messages. Jobs that ended in between have no message."""
    off = WebhookEndpoint.objects.filter(pk=endpoint.pk, off_at__isnull=False)
    if off.update(off_at=None, failing_since=None, failures=0, next_at=None, last_error=""):
        audit.note("switched on", WebhookEndpoint, [(endpoint.pk, endpoint.url)], tenant_id=endpoint.tenant_id)


@transaction.atomic
def try_now(endpoint: WebhookEndpoint) -> None:
    """Post to an endpoint at once, without the wait for its next try, or for that of a message that it refused."""
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(next_at=None)
    WebhookMessage.objects.filter(endpoint_id=endpoint.pk, next_at__isnull=False).update(next_at=None)
    audit.note("tried now", WebhookEndpoint, [(endpoint.pk, endpoint.url)], tenant_id=endpoint.tenant_id)
