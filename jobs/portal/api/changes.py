"""The endpoint of the audit log of the caller's tenant; changes of other tenants never appear."""

from datetime import datetime
from typing import Any

from django.urls import reverse
from ninja import Query, Router, Schema
from pydantic import Field

from jobs.http import inputs, pages
from jobs.http.auth import CallerRequest
from tenants.audit import about
from tenants.models import Change

router = Router(tags=["changes"])

FILTERS = {"kind", "subject_id"}
OPERATOR = "operator"  # in place of an operator's name and address, which tenants do not see


class WantedChanges(Schema):
    """Filters of the list of changes."""

    kind: inputs.Name | None = Field(None, description="For example jobs.job, jobs.schedule or tenants.tenantqueue.")
    subject_id: inputs.Name | None = Field(None, description="The id of what was changed; it needs kind.")
    before: inputs.RowId | None = Field(None, description="Only changes with a lower id, which are older.")
    limit: inputs.Whole = Field(20, ge=1, le=100)


class ChangeToYours(Schema):
    """A change that a person or a program made to something of yours."""

    id: int
    at: datetime
    who: str = Field(description="A user of yours, your slug for a program with a key, or `operator`.")
    key: str = Field(description="The prefix of your key. Empty: a user's session, or an operator.")
    address: str = Field(description="The network address of your user or program. Empty: an operator.")
    verb: str = Field(description="For example added, changed, deleted, cancelled, revived.")
    kind: str
    subject_id: str
    subject: str = Field(description="Its name at that moment.")
    values: dict[str, Any] = Field(description="What changed: the values before and after, by field.")


class ChangePage(Schema):
    changes: list[ChangeToYours] = Field(description="The newest first.")
    next: str | None = Field(description="The address of the next page. Null: this is the last page.")


@router.get("changes", url_name="changes", response=ChangePage)
def list_changes(request: CallerRequest, wanted: Query[WantedChanges]) -> dict[str, Any]:
    """List the changes to your jobs, schedules, keys, members and limits, with who made them, a page at a time."""
    tenant_id = request.auth.tenant.pk
    filters = wanted.model_dump(include=FILTERS, exclude_none=True)
    found = Change.objects.filter(about(**filters), tenant_id=tenant_id)
    changes, older = pages.page(found, reverse("jobs_api:changes"), wanted)
    return {"changes": [_shown(change, tenant_id) for change in changes], "next": older}


def _shown(change: Change, tenant_id: int) -> dict[str, Any]:
    of = {name: getattr(change, name) for name in ChangeToYours.model_fields}
    if change.actor_tenant_id != tenant_id:
        of |= {"who": OPERATOR, "key": "", "address": ""}
        # A filter may name errors.
        of["values"] = {name: value for name, value in change.values.items() if name != "filter"}
    return of
