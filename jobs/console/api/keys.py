"""Keys of tenants: list them with their last use, and revoke one that leaked. No secret is ever shown."""

from datetime import datetime

from ninja import Query, Router, Schema
from pydantic import Field

from jobs.console.api.auth import OperatorRequest, may
from jobs.http.inputs import Text, Whole
from jobs.http.problems import existing
from plumbing.text import storable
from tenants import auth
from tenants.conf import TENANT_SLUG
from tenants.models import ApiKey

router = Router(tags=["operators"], auth=may("tenants.view_apikey"))


class TenantsKey(Schema):
    """A key without its secret."""

    prefix: str = Field(description="The first part of the key.")
    name: str
    tenant: str = Field(alias="tenant.jobs_slug", description="Its slug.")
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None = Field(description="Accurate to the minute.")


class SoughtKeys(Schema):
    tenant: Text | None = Field(None, description="Its slug.")
    after: Text | None = Field(None, description="Only keys with a prefix after this one.")
    limit: Whole = Field(100, ge=1, le=100)


@router.get("keys", response=list[TenantsKey], by_alias=False)
def list_keys(request: OperatorRequest, wanted: Query[SoughtKeys]) -> list[ApiKey]:
    """List keys, ordered by prefix."""
    keys = ApiKey.objects.select_related("tenant").order_by("prefix")
    if wanted.tenant is not None:
        keys = keys.filter(**{f"tenant__{TENANT_SLUG}": wanted.tenant})
    if wanted.after is not None:
        keys = keys.filter(prefix__gt=wanted.after)
    return list(keys[: wanted.limit])


@router.post("keys/{prefix}/revoke", auth=may("tenants.change_apikey"), response=TenantsKey, by_alias=False)
def revoke_key(request: OperatorRequest, prefix: str) -> ApiKey:
    """Revoke a key: it is refused from now on."""
    key = existing(ApiKey.objects.select_related("tenant").filter(prefix=storable(prefix)).first(), "key")
    auth.revoke(key)
    key.refresh_from_db()
    return key
