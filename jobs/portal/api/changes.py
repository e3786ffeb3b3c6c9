"""The endpoint of the audit log of the caller's tenant; changes of other tenants never appear."""

from typing import Any

from django.urls import reverse
from ninja import Query, Router

from jobs.http import pages
from jobs.http.auth import CallerRequest
from jobs.http.changes import ChangePage, ChangeToYours, WantedChanges
from tenants.audit import about
from tenants.models import Change

router = Router(tags=["changes"])

FILTERS = {"kind", "subject_id"}
OPERATOR = "operator"  # in place of an operator's name and address, which tenants do not see


@router.get("changes", url_name="changes", response=ChangePage)
def list_changes(request: CallerRequest, wanted: Query[WantedChanges]) -> dict[str, Any]:
    """List the changes to your jobs, schedules, keys, members and limits, with who made them, a page at a time."""
    tenant_id = request.auth.tenant.pk
    filters = wanted.model_dump(include=FILTERS, exclude_none=True)
    entries = Change.objects.filter(about(**filters), tenant_id=tenant_id)
    changes, older = pages.page(entries, reverse("jobs_api:changes"), wanted)
    return {"changes": [_as_document(change, tenant_id) for change in changes], "next": older}


def _as_document(change: Change, tenant_id: int) -> dict[str, Any]:
    values = {name: getattr(change, name) for name in ChangeToYours.model_fields}
    if change.actor_tenant_id != tenant_id:
        values |= {"who": OPERATOR, "key": "", "address": ""}
        # A filter may name errors.
        values["values"] = {name: value for name, value in change.values.items() if name != "filter"}
    return values
