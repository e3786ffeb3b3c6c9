"""Add, remove and switch on the endpoints of a tenant. Whoever shows it may do it; each is in the audit log."""

import secrets
from collections.abc import Sequence

from django.db import transaction

from jobs.calls.refusals import InvalidRequest
from jobs.engine.webhooks import addresses, signing
from jobs.models import Queue, WebhookEndpoint
from tenants import audit
from tenants.models import Tenant
from tenants.tenant_model import lock_tenant

QUEUE = "webhooks"
MOST = 10  # endpoints of a tenant
MOST_NAMED = 100  # types, or batches


@transaction.atomic
def add(
    tenant: Tenant, url: str, types: Sequence[str] = (), batches: Sequence[str] = ()
) -> tuple[WebhookEndpoint, str]:
    """The endpoint and its secret, which nobody is shown again. Raises InvalidRequest."""
    addresses.split(url)
    for field, names in (("types", types), ("batches", batches)):
        if len(names) > MOST_NAMED:
            raise InvalidRequest(field, f"must be at most {MOST_NAMED}")
    for named in types:
        if "." not in named or len(named) > 301 or not named.isprintable():  # noqa: PLR2004 - as stored
            raise InvalidRequest("types", f"must be job types such as reports.datareport.execute, not {named[:100]!r}")
    for named in batches:
        if not 0 < len(named) <= 200 or "\x00" in named:  # noqa: PLR2004 - as stored
            raise InvalidRequest("batches", f"must be names of batches, not {named[:100]!r}")
    lock_tenant(tenant)
    if WebhookEndpoint.objects.filter(tenant=tenant).count() >= MOST:
        raise InvalidRequest("url", f"there are {MOST} endpoints already; remove one")
    Queue.objects.get_or_create(name=QUEUE)
    told = {"types": list(types), "batches": list(batches)}
    made = WebhookEndpoint.objects.create(tenant=tenant, url=url, salt=secrets.token_hex(32), **told)
    audit.note("added", WebhookEndpoint, [(made.pk, url)], tenant_id=tenant.pk)
    return made, signing.secret_of(made.salt)


@transaction.atomic
def remove(endpoint: WebhookEndpoint) -> None:
    """Nothing more is sent to it: messages that wait find it gone."""
    if WebhookEndpoint.objects.filter(pk=endpoint.pk).delete()[0]:
        audit.note("deleted", WebhookEndpoint, [(endpoint.pk, endpoint.url)], tenant_id=endpoint.tenant_id)


@transaction.atomic
def switch_on(endpoint: WebhookEndpoint) -> None:
    """Send to it again. What ended in between is not told."""
    off = WebhookEndpoint.objects.filter(pk=endpoint.pk, off_at__isnull=False)
    if off.update(off_at=None, failing_since=None, last_error=""):
        audit.note("switched on", WebhookEndpoint, [(endpoint.pk, endpoint.url)], tenant_id=endpoint.tenant_id)
