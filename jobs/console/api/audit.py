"""The audit log: what people and programs did, with names and addresses."""

from typing import Any

from django.urls import reverse
from ninja import Query, Router
from pydantic import Field

from jobs.console.api.auth import OperatorRequest, may
from jobs.console.operations import audited
from jobs.console.operations.filters import MOMENTS
from jobs.portal.api import pages
from jobs.portal.api.changes import ChangePage, ChangeToYours, WantedChanges
from jobs.portal.api.inputs import Text

router = Router(tags=["operators"], auth=may("tenants.view_change"))


class SoughtChanges(WantedChanges):
    """Filters; a change must match all that are given."""

    tenant: Text | None = Field(None, description="The slug of the tenant whose things were changed.")
    who: Text | None = Field(None, description="Only changes that they made; the exact name.")
    since: Text | None = Field(None, description=f"Only changes after: {MOMENTS}.")
    until: Text | None = Field(None, description="Only changes up to this time.")


class AnyChange(ChangeToYours):
    """What somebody did."""

    who: str = Field(description="A user, a tenant's slug for a program with a key, or the user at the command line.")
    key: str = Field(description="The prefix of the key used. Empty: a user's session, or the command line.")
    address: str = Field(description="Empty: the command line.")
    actor_tenant_id: int | None = Field(description="Of the tenant that did it. Null: an operator.")
    tenant_id: int | None = Field(description="Of the tenant whose things were changed.")
    values: dict[str, Any] = Field(description="The values before and after, by field; the number of a bulk action.")


class AnyChanges(ChangePage):
    changes: list[AnyChange] = Field(description="The newest first.")  # type: ignore[assignment]


@router.get("changes", url_name="operator_changes", response=AnyChanges)
def list_all_changes(request: OperatorRequest, wanted: Query[SoughtChanges]) -> dict[str, Any]:
    """What was done by whom, to all tenants' things and to the scheduler's own, a page at a time."""
    found = audited.changes(wanted.model_dump())
    changes, older = pages.page(found, reverse("jobs_api:operator_changes"), wanted)
    return {"changes": [audited.document(change) for change in changes], "next": older}
