"""The schemas of the audit log."""

from datetime import datetime
from typing import Any

from ninja import Schema
from pydantic import Field

from jobs.http import inputs


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
