"""Tenants: the slots and the rate limit of each."""

from django.db import transaction
from ninja import ModelSchema, Query, Router, Schema
from pydantic import Field

from jobs.console.api.auth import OperatorRequest, may
from jobs.console.api.changes import change, changes_of, tenant_at
from jobs.console.operations.limits import OF_TENANT
from jobs.engine.verbs import limits
from jobs.http.inputs import Text, Whole, with_example
from tenants.conf import TENANT_SLUG
from tenants.models import TenantQueue
from tenants.tenant_model import all_tenants

router = Router(tags=["operators"], auth=may("tenants.view_tenantqueue"))


class TenantSlots(ModelSchema):
    tenant: str = Field(alias="tenant.jobs_slug", description="Its slug.")

    class Meta:
        model = TenantQueue
        fields = tuple(limit.name for limit in OF_TENANT)


class SlotsChange(changes_of(OF_TENANT)):  # type: ignore[misc]  # made at run time
    """The fields to change; omitted fields stay as they are. Null, where allowed, means no limit or no default."""

    model_config = with_example(num_slots=5, burst_slots=8)


class SoughtTenants(Schema):
    after: Text | None = Field(None, description="Only tenants with a slug after this one.")
    limit: Whole = Field(100, ge=1, le=100)


@router.get("tenants", response=list[TenantSlots], by_alias=False)
def list_tenants(request: OperatorRequest, wanted: Query[SoughtTenants]) -> list[TenantQueue]:
    """List tenants and their slots, ordered by slug."""
    tenants = all_tenants().select_related("jobs_queue").order_by(TENANT_SLUG)
    tenants = tenants.filter(**{f"{TENANT_SLUG}__gt": wanted.after or ""})
    return [
        tenant.jobs_queue if hasattr(tenant, "jobs_queue") else TenantQueue(tenant=tenant, num_slots=0)
        for tenant in tenants[: wanted.limit]
    ]


@router.get("tenants/{slug}", response=TenantSlots, by_alias=False)
def read_tenant(request: OperatorRequest, slug: str) -> TenantQueue:
    """Read a tenant's slots."""
    return TenantQueue.of(tenant_at(slug))


@router.patch("tenants/{slug}", auth=may("tenants.change_tenantqueue"), response=TenantSlots)
@transaction.atomic
def change_tenant(request: OperatorRequest, slug: str, wanted: SlotsChange) -> TenantQueue:
    """Change a tenant's slots. With fewer, running jobs may finish; with more, waiting jobs start at once."""
    slots = limits.locked_slots(tenant_at(slug))
    change(slots, wanted.model_dump(exclude_unset=True))
    return slots
