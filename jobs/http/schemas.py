"""The schemas of responses."""

import json
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, Self
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from ninja import Schema
from pydantic import Field

from jobs import models
from jobs.lifecycle import Status
from jobs.reading.listing import parts_of_wait, ran, waited
from jobs.reading.predictor import starts
from jobs.reading.public_error import public_text
from jobs.reading.starts import Reason
from plumbing.bounds import is_whole


class ListedJob(Schema):
    """A job in its tenant's list, without the long fields."""

    id: int
    status: Status
    source_type: str
    source_id: str | None
    source_method: str
    queue: str
    priority: int
    user: str = Field(description="Your user that the job is for. Empty: no particular user.")
    batch: int | None = Field(description="The batch that it belongs to. Null: none.")
    sequence: str | None = Field(description="The sequence that it is in. Null: none.")
    attempt: int = Field(description="The number of the current or last attempt, from 1. 0: none yet.")
    retries: int = Field(
        description="The number of retries after failures, since the job was submitted or last revived."
    )
    max_retries: int | None = Field(description="The most retries. Null: the number of its method or queue.")
    crashes: int = Field(description="The number of attempts whose process died.")
    created_at: datetime
    due_at: datetime | None = Field(
        description="The moment when the job will be ready. Null: it is not scheduled, or it is held."
    )
    expires_at: datetime | None = Field(description="From then on no attempt starts; a waiting job is cancelled.")
    held: bool = Field(description="True: its job type is paused, or a budget is used up; its status is `scheduled`.")
    queued_at: datetime | None
    start_time: datetime | None
    end_time: datetime | None
    cancel_requested_at: datetime | None = Field(description="The moment when the job was asked to stop while running.")
    wait_seconds: float = Field(description="Seconds from submission to start; it grows until the start.")
    waited: float | None = Field(
        description="Seconds from ready to start, of the last attempt; it grows until the start."
    )
    waited_own: float | None = Field(
        description="The part of `waited` in which the tenant's own limits held the job: slots, rate limits, a pause. "
        "Null: not started."
    )
    waited_for_process: float | None = Field(description="The rest of `waited`: for a process. Null: not started.")
    run_seconds: float | None = Field(description="Seconds from start to end; it grows until the end.")
    worker: UUID | None = Field(description="The worker that runs, or ran, the last attempt.")
    peak_memory: int | None = Field(
        description="The peak memory of its process during the last attempt, in MiB. Null: not measured."
    )
    result_bytes: int | None = Field(description="The size of the result. 0: the method returned nothing.")
    progress: float | None = Field(description="0 to 1, if the job reports it.")
    progress_note: str
    last_error: str = Field(description="The class of the error, and its text if the job's author meant it for you.")
    reason: str | None = Field(
        description="Why the scheduler cancelled it: `expired`, or `replaced by` and the id of a job. "
        "Null: it did not cancel it."
    )
    result_url: str | None = Field(description="The address of the result. Null: no result is kept.")


class Starts(Schema):
    """When a waiting job is expected to start, by the last forecast."""

    p50: datetime | None = Field(description="Half of such jobs start by this moment. Null: not predicted.")
    p90: datetime | None = Field(
        description="90 % of such jobs start by this moment. Null: not predicted; p50, if given, is a rough guess."
    )
    not_before: datetime | None = Field(description="A start before this moment is unlikely. Given only without p50.")
    reason: Reason | None = Field(description="Why the forecast is missing or incomplete: a stable code.")
    made_at: datetime | None = Field(description="The moment of the forecast. Null: there is none yet.")


class Job(ListedJob):
    """A job as its tenant sees it."""

    args: dict[str, Any]
    stats: dict[str, Any]
    starts: Starts | None = Field(
        description="When it is expected to start. Null: it does not wait, or this answers a submit, which reads no "
        "forecast."
    )
    rows: int | None = Field(description='The number of rows, if the job has set `stats["rows"]`.')

    @classmethod
    def of(cls, job: models.JobRow) -> Self:
        return cls(**read_job_values(job))


class SubmittedJob(Job):
    deduplicated: bool = Field(description="True: an identical job existed already, and this is that job.")


class BatchJob(Schema):
    """The outcome of one submission of a batch."""

    id: int
    status: Status
    deduplicated: bool = Field(
        description="True: the job existed before, or is identical to an earlier one of the batch."
    )
    url: str = Field(description="The address of the job.")


class SubmittedBatch(Schema):
    jobs: list[BatchJob] = Field(description="In the order of the submissions.")


class JobPage(Schema):
    jobs: list[ListedJob] = Field(description="Newest first.")
    next: str | None = Field(
        description="The address of the next page, with older jobs; it may be empty. Null: this is the last page."
    )


class FieldError(Schema):
    field: str
    message: str


class Problem(Schema):
    """RFC 9457 problem details."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldError]


MEDIA_TYPE = "application/json; charset=utf-8"


def answer(status: int, document: dict[str, Any], location: str = "") -> HttpResponse:
    """Respond with a document that fits its schema: Ninja's check would take as long as the rest of the request.

    location: the address of the new object, for the header `Location`.
    """
    headers = {"Location": location} if location else None
    return HttpResponse(text(document), content_type=MEDIA_TYPE, status=status, headers=headers)


def text(document: dict[str, Any]) -> str:
    """Return the document as JSON text, as Ninja writes it."""
    return json.dumps(document, cls=DjangoJSONEncoder)


def read_job_values(job: models.JobRow) -> dict[str, Any]:
    """Return the values of a `Job` by field. While the job waits, one statement reads the forecast of its start."""
    prediction = starts([job]).get(job.pk)
    return job_values(job, starts=prediction and asdict(prediction))


def job_values(job: models.JobRow, **more: Any) -> dict[str, Any]:
    """Return the values of a `Job` by field, without any statement.

    more: values that are not in the job's row, such as the forecast.
    """
    rows = job.stats.get("rows")
    counted = rows if is_whole(rows) else None
    return listed_values(job) | {"args": job.args, "stats": job.stats, "starts": None, "rows": counted} | more


OWN = frozenset(  # fields that are not columns of that name
    {"queue", "user", "batch", "due_at", "held", "wait_seconds", "waited", "waited_own"}
    | {"waited_for_process", "run_seconds", "last_error", "result_url"}
)
COLUMNS = [name for name in ListedJob.model_fields if name not in OWN]


def listed_values(job: models.JobRow) -> dict[str, Any]:
    """Return the values of a `ListedJob` by field."""
    now = timezone.now()
    waited_own, waited_for_process = parts_of_wait(job) or (None, None)
    return {name: getattr(job, name) for name in COLUMNS} | {
        "queue": job.queue.name,
        "user": job.user_key,
        "batch": job.batch_id,
        "due_at": None if job.is_held else job.due_at,
        "held": job.is_held,
        "wait_seconds": max((job.start_time or job.end_time or now) - job.created_at, timedelta(0)).total_seconds(),
        "waited": waited(job, now),
        "waited_own": waited_own,
        "waited_for_process": waited_for_process,
        "run_seconds": ran(job, now),
        "last_error": public_text(job.last_error),
        "result_url": result_url(job),
    }


def result_url(job: models.JobRow) -> str | None:
    """Return the address of the job's result; None if no result is kept, or no longer."""
    if job.result_expires_at is None or job.result_expires_at <= timezone.now():
        return None
    return reverse("jobs_api:job_result", kwargs={"job_id": job.pk})
