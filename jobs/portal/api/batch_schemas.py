"""The schemas of batches."""

from datetime import datetime

from ninja import Schema
from pydantic import Field, StrictBool

from jobs.portal.api import inputs
from jobs.store import Progress


class NewBatch(inputs.Body):
    """Jobs that belong together, and what runs when they have ended."""

    name: inputs.Text = Field(min_length=1, examples=["nightly"])
    # fail_fast: to tell all that is wrong with a thousand takes half a minute
    jobs: list[inputs.Submission] = Field([], max_length=inputs.MOST_AT_ONCE, fail_fast=True)
    on_success: inputs.Submission | None = Field(
        None, description="A job that runs once, when all have ended well; also after a revival."
    )
    on_end: inputs.Submission | None = Field(None, description="A job that runs once, when all have ended.")
    close: StrictBool = Field(True, description="False: you add more jobs, and close it then.")


class Batch(Schema):
    """A batch, and what became of its jobs; a second old at most."""

    id: int = Field(description="A job waits for it by this number, in `after` or `after_end`.")
    name: str
    user: str
    created_at: datetime
    closed_at: datetime | None = Field(description="Null: it is open, so it is not over.")
    cancelling: bool = Field(description="True: a cancel is going through its jobs. It needs no further request.")
    complete: bool = Field(description="True: it is closed, and all of its jobs have ended.")
    total: int
    waiting: int
    running: int
    success: int
    error: int
    dead: int
    cancelled: int
    share: float = Field(description="The share of its jobs that has ended, 0 to 1.")
    oldest: datetime | None = Field(description="When the first of its jobs that has not ended was submitted.")

    @classmethod
    def of(cls, progress: Progress) -> "Batch":
        counts = ("total", "waiting", "running", "success", "error", "dead", "cancelled", "share")
        same = ("id", "name", "created_at", "closed_at", "cancelling", "oldest", *counts)
        values = {name: getattr(progress, name) for name in same}
        return cls(user=progress.user_key, complete=progress.is_complete, **values)


class Batches(Schema):
    batches: list[Batch] = Field(description="Newest first.")
    next: str | None = Field(description="The address of the next page, with older batches. Null: the last page.")


class WantedBatches(Schema):
    before: inputs.RowId | None = Field(None, description="Only batches with a lower id.")
    limit: inputs.Whole = Field(20, ge=1, le=100)
