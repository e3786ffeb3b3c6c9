"""The schemas of batches."""

from datetime import datetime

from ninja import Schema
from pydantic import Field, StrictBool

from jobs.http import inputs
from jobs.store import Progress


class NewBatch(inputs.Body):
    """Jobs that belong together, and the jobs that run when they have ended."""

    model_config = inputs.with_example(name="nightly", jobs=[inputs.EXAMPLE], on_end=inputs.EXAMPLE | {"queue": "mail"})

    name: inputs.Text = Field(min_length=1, examples=["nightly"])
    # fail_fast: to report every error of a thousand jobs takes half a minute
    jobs: list[inputs.Submission] = Field([], max_length=inputs.MOST_AT_ONCE, fail_fast=True)
    on_success: inputs.Submission | None = Field(
        None, description="A job that runs once, when all have succeeded; also if some succeed only after a revival."
    )
    on_end: inputs.Submission | None = Field(None, description="A job that runs once, when all have ended.")
    close: StrictBool = Field(True, description="False: it stays open; add more jobs, then close it.")


class Batch(Schema):
    """A batch, with the numbers of its jobs by state; they are at most a second old."""

    id: int = Field(description="A job that names this id in `after` or `after_end` waits for the batch.")
    name: str
    user: str
    created_at: datetime
    closed_at: datetime | None = Field(description="Null: it is open, so it is not complete.")
    cancelling: bool = Field(description="True: its jobs are being cancelled. This needs no further request.")
    complete: bool = Field(description="True: it is closed, and all of its jobs have ended.")
    total: int
    waiting: int
    running: int
    success: int
    error: int
    dead: int
    cancelled: int
    share: float = Field(description="The share of its jobs that have ended, 0 to 1.")
    oldest: datetime | None = Field(description="When the oldest of its unfinished jobs was submitted.")

    @classmethod
    def of(cls, progress: Progress) -> "Batch":
        counts = ("total", "waiting", "running", "success", "error", "dead", "cancelled", "share")
        names = ("id", "name", "created_at", "closed_at", "cancelling", "oldest", *counts)
        values = {name: getattr(progress, name) for name in names}
        return cls(user=progress.user_key, complete=progress.is_complete, **values)


class Batches(Schema):
    batches: list[Batch] = Field(description="Newest first.")
    next: str | None = Field(description="The address of the next page, with older batches. Null: the last page.")


class WantedBatches(Schema):
    before: inputs.RowId | None = Field(None, description="Only batches with a lower id.")
    limit: inputs.Whole = Field(20, ge=1, le=100)
