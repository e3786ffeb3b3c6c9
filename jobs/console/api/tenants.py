"""Tenants: the slots and the rate limit of each."""

from typing import Annotated

from django.db import transaction
from ninja import Query, Router, Schema
from pydantic import Field, StrictBool

from jobs.console.api.auth import OperatorRequest, may
from jobs.console.api.changes import PROBLEMS, REFUSED, change, no_such, storable
from jobs.console.api.queues import Seconds
from jobs.engine import limits
from jobs.portal.api.inputs import Body, Integer, Name, Text, Whole, left_out, refuse_unknown_names
from jobs.portal.api.schemas import Problem
from tenants.models import Tenant, TenantQueue
from tenants.tenant_model import all_tenants

router = Router(tags=["operators"], auth=may("tenants.view_tenantqueue"))


class TenantSlots(Schema):
    tenant: str = Field(alias="tenant.slug", description="Its slug.")
    num_slots: int
    user_slots: int | None
    weight: int
    max_waiting: int | None
    history_days: int | None
    rate_limit: int | None
    rate_window: float | None
    queues: list[str] = Field(description="Queues that the tenant may name over HTTP besides a job's own.")
    paused: bool


class SlotsChange(Body):
    """The fields to change; omitted fields stay as they are. Null, where allowed, means no limit or no default."""

    num_slots: Integer = left_out("The most jobs at once. 0 pauses the tenant.")
    user_slots: Integer | None = Field(None, description="The most slots of one user. Null: no limit per user.")
    weight: Integer = left_out("The tenant's share of the workers while tenants compete.")
    max_waiting: Integer | None = Field(None, description="The most jobs that may wait. Null: JOBS_MAX_WAITING.")
    history_days: Integer | None = Field(
        None, description="Days that its ended jobs are kept. Null: as long as everybody's."
    )
    rate_limit: Integer | None = Field(
        None, description="The most jobs started per window. Both fields null: no limit."
    )
    rate_window: Seconds | None = Field(None, description="The length of the window in seconds.")
    queues: Annotated[list[Name], Field(max_length=100)] = left_out(
        "Queues that the tenant may name over HTTP besides a job's own."
    )
    paused: StrictBool = left_out("Waiting jobs stay waiting; running jobs continue.")


class SoughtTenants(Schema):
    after: Text | None = Field(None, description="Only tenants with a slug after this one.")
    limit: Whole = Field(100, ge=1, le=100)


@router.get("tenants", response={200: list[TenantSlots], REFUSED | {422}: Problem}, by_alias=False)
def list_tenants(request: OperatorRequest, wanted: Query[SoughtTenants]) -> list[TenantQueue]:
    """List tenants and their slots, ordered by slug."""
    refuse_unknown_names(request, SoughtTenants.model_fields)
    found = all_tenants().select_related("queue").filter(slug__gt=wanted.after or "").order_by("slug")
    return [
        tenant.queue if hasattr(tenant, "queue") else TenantQueue(tenant=tenant, num_slots=0)
        for tenant in found[: wanted.limit]
    ]


@router.get("tenants/{slug}", response={200: TenantSlots, **PROBLEMS}, by_alias=False)
def read_tenant(request: OperatorRequest, slug: str) -> TenantQueue:
    """Read a tenant's slots."""
    tenant = _tenant(slug)
    return TenantQueue.objects.filter(tenant=tenant).first() or TenantQueue(tenant=tenant, num_slots=0)


@router.patch("tenants/{slug}", auth=may("tenants.change_tenantqueue"), response={200: TenantSlots, **PROBLEMS})
@transaction.atomic
def change_tenant(request: OperatorRequest, slug: str, wanted: SlotsChange) -> TenantQueue:
    """Change a tenant's slots. With fewer, running jobs may finish; with more, waiting jobs start at once."""
    slots = limits.locked_slots(_tenant(slug))
    change(slots, wanted.model_dump(exclude_unset=True))
    return slots


def _tenant(slug: str) -> Tenant:
    tenant = all_tenants().filter(slug=storable(slug)).first()
    if tenant is None:
        raise no_such("tenant")
    return tenant
