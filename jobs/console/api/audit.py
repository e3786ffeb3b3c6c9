"""The audit log: what people and programs did, with names and addresses."""

from datetime import datetime
from typing import Any

from django.urls import reverse
from ninja import Query, Router, Schema
from pydantic import Field

from jobs.console.api.auth import OperatorRequest, may
from jobs.console.api.changes import REFUSED
from jobs.console.operations import audited
from jobs.portal.api import pages
from jobs.portal.api.inputs import Name, RowId, Text, Whole, refuse_unknown_names
from jobs.portal.api.schemas import Problem

router = Router(tags=["operators"], auth=may("tenants.view_change"))


class SoughtChanges(Schema):
    """Filters; a change must match all that are given."""

    tenant: Text | None = Field(None, description="The slug of the tenant whose things were changed.")
    who: Text | None = Field(None, description="Exactly so.")
    kind: Name | None = Field(None, description="For example jobs.job or tenants.tenantqueue.")
    subject_id: Name | None = Field(None, description="The id of what was changed; it needs kind.")
    since: Text | None = Field(None, description="30m, 1h, 7d ago, or a moment like 2030-01-31T02:00 (UTC).")
    until: Text | None = Field(None, description="Up to then.")
    before: RowId | None = Field(None, description="Only changes with a lower id, which are older.")
    limit: Whole = Field(20, ge=1, le=100)


class AnyChange(Schema):
    """What somebody did."""

    id: int
    at: datetime
    who: str = Field(description="A user, a tenant's slug for a program with a key, or the user at the command line.")
    key: str = Field(description="The prefix of the key used. Empty: a user's session, or the command line.")
    address: str = Field(description="Empty: the command line.")
    actor_tenant_id: int | None = Field(description="Of the tenant that did it. Null: an operator.")
    tenant_id: int | None = Field(description="Of the tenant whose things were changed.")
    verb: str
    kind: str
    subject_id: str
    subject: str = Field(description="Its name at that moment.")
    values: dict[str, Any] = Field(description="The values before and after, by field; the number of a bulk action.")


class AnyChanges(Schema):
    changes: list[AnyChange] = Field(description="The newest first.")
    next: str | None = Field(description="The address of the next page. Null: this is the last page.")


@router.get("changes", url_name="operator_changes", response={200: AnyChanges, REFUSED | {422}: Problem})
def list_all_changes(request: OperatorRequest, wanted: Query[SoughtChanges]) -> dict[str, Any]:
    """What was done by whom, to all tenants' things and to the scheduler's own, a page at a time."""
    refuse_unknown_names(request, SoughtChanges.model_fields)
    found = audited.changes(wanted.model_dump()).order_by("-pk")
    if wanted.before is not None:
        found = found.filter(pk__lt=wanted.before)
    changes, older = pages.page(found, reverse("api:operator_changes"), wanted, lambda last: {"before": last.pk})
    return {"changes": [audited.document(change) for change in changes], "next": older}
