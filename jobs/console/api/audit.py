"""The audit log: what people and programs did, with names and addresses; and marks, which operators add to it."""

from typing import Any

from django.db import transaction
from django.urls import reverse
from ninja import Query, Router, Status
from pydantic import Field

from jobs.console.api.auth import OperatorRequest, may
from jobs.console.operations import audited
from jobs.console.operations.filters import MOMENTS
from jobs.engine.verbs.mark import mark
from jobs.http import pages
from jobs.http.changes import ChangePage, ChangeToYours, WantedChanges
from jobs.http.inputs import Body, Text, with_example

router = Router(tags=["operators"], auth=may("tenants.view_change"))


class SoughtChanges(WantedChanges):
    """Filters; a change must match all that are given."""

    tenant: Text | None = Field(None, description="The slug of the tenant whose things were changed.")
    who: Text | None = Field(None, description="Only changes by this user or program: the exact name.")
    since: Text | None = Field(None, description=f"Only changes after: {MOMENTS}.")
    until: Text | None = Field(None, description="Only changes up to this time.")


class AnyChange(ChangeToYours):
    """An entry of the audit log: what a user, a program or an operator did."""

    who: str = Field(description="A user, a tenant's slug for a program with a key, or the user at the command line.")
    key: str = Field(description="The prefix of the key used. Empty: a user's session, or the command line.")
    address: str = Field(description="The client's address. Empty: the command line.")
    actor_tenant_id: int | None = Field(description="The id of the tenant that did it. Null: an operator did it.")
    tenant_id: int | None = Field(description="The id of the tenant whose things were changed.")
    values: dict[str, Any] = Field(
        description="The values before and after, by field; for a bulk action the number of jobs."
    )


class AnyChanges(ChangePage):
    changes: list[AnyChange] = Field(description="The newest first.")  # type: ignore[assignment]


class NewMark(Body):
    model_config = with_example(text="release 4.2")

    text: Text = Field(description="What happens now, in 1 to 100 characters.")


@router.post("marks", auth=may("tenants.add_change"), response={201: AnyChange})
@transaction.atomic
def mark_moment(request: OperatorRequest, wanted: NewMark) -> Status[dict[str, Any]]:
    """Mark this moment in the charts of the operators, such as a deploy. The answer is its entry in the audit log."""
    [change] = mark(wanted.text)
    return Status(201, audited.document(change))


@router.get("changes", url_name="operator_changes", response=AnyChanges)
def list_all_changes(request: OperatorRequest, wanted: Query[SoughtChanges]) -> dict[str, Any]:
    """List what was done and by whom, to the things of all tenants and to the scheduler's own, in pages."""
    entries = audited.changes(wanted.model_dump())
    changes, older = pages.page(entries, reverse("jobs_api:operator_changes"), wanted)
    return {"changes": [audited.document(change) for change in changes], "next": older}
