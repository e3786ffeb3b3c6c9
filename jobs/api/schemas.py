"""What goes out over the wire."""

import json
from datetime import datetime, timedelta
from typing import Any, Self

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from ninja import Schema
from pydantic import Field

from jobs import models
from jobs.lifecycle import Status
from jobs.told import told


class ListedJob(Schema):
    """A job, as its tenant sees it among others: without what may be long."""

    id: int
    status: Status
    source_type: str
    source_id: str | None
    source_method: str
    queue: str
    priority: int
    user: str = Field(description="Empty: for none of your users in particular.")
    attempt: int = Field(description="How many times it was handed to a worker.")
    retries: int = Field(description="How many of them were tries after a failure, since it was submitted or revived.")
    max_retries: int | None = Field(description="Null: what its method or queue says.")
    crashes: int = Field(description="How many attempts lost their process.")
    created_at: datetime
    due_at: datetime | None = Field(description="While scheduled and not held: when it will be ready.")
    held: bool = Field(description="Scheduled until its job type, which is paused, is resumed.")
    queued_at: datetime | None
    start_time: datetime | None
    end_time: datetime | None
    cancel_requested_at: datetime | None = Field(description="When it was asked to stop, while running.")
    wait_seconds: float = Field(description="From submission to its start; grows until then.")
    run_seconds: float | None = Field(description="From its start to its end; grows until then.")
    progress: float | None = Field(description="0..1, where the job tells it.")
    progress_note: str
    last_error: str = Field(description="Its class; and its text, where the job's author meant it for you.")
    result_url: str | None = Field(description="Where the result is, while one is kept.")


class Job(ListedJob):
    """A job, as its tenant sees it."""

    args: dict[str, Any]
    stats: dict[str, Any]

    @classmethod
    def of(cls, job: models.Job) -> Self:
        return cls(**shown(job))


class SubmittedJob(Job):
    deduplicated: bool = Field(description="True: it was there before, and is identical to what you asked for.")


class BatchJob(Schema):
    """What became of one submission of a batch."""

    id: int
    status: Status
    deduplicated: bool = Field(description="True: it was there before, or is identical to one before it in the batch.")
    url: str = Field(description="Where the whole job is.")


class SubmittedBatch(Schema):
    jobs: list[BatchJob] = Field(description="In the order of the submissions.")


class JobPage(Schema):
    jobs: list[ListedJob] = Field(description="Newest first.")
    next: str | None = Field(description="Where the older ones are.")


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


def answer(status: int, document: dict[str, Any]) -> HttpResponse:
    """What fits its schema already: Ninja would check it twice, for as long as the rest of the request takes."""
    return HttpResponse(text(document), content_type=MEDIA_TYPE, status=status)


def text(document: dict[str, Any]) -> str:
    """The document as Ninja writes it."""
    return json.dumps(document, cls=DjangoJSONEncoder)


def shown(job: models.Job, **more: Any) -> dict[str, Any]:
    """The values of a `Job`, by its fields; and more."""
    return listed(job) | {"args": job.args, "stats": job.stats} | more


def listed(job: models.Job) -> dict[str, Any]:
    """The values of a `ListedJob`, by its fields."""
    held = job.due_at == models.HELD_UNTIL
    return {
        "id": job.pk,
        "status": job.status,
        "source_type": job.source_type,
        "source_id": job.source_id,
        "source_method": job.source_method,
        "queue": job.queue.name,
        "priority": job.priority,
        "user": job.user_key,
        "attempt": job.attempt,
        "retries": job.retries,
        "max_retries": job.max_retries,
        "crashes": job.crashes,
        "created_at": job.created_at,
        "due_at": None if held else job.due_at,
        "held": held,
        "queued_at": job.queued_at,
        "start_time": job.start_time,
        "end_time": job.end_time,
        "cancel_requested_at": job.cancel_requested_at,
        "wait_seconds": _seconds(job.created_at, job.start_time or job.end_time),
        "run_seconds": job.start_time and _seconds(job.start_time, job.end_time),
        "progress": job.progress,
        "progress_note": job.progress_note,
        "last_error": told(job.last_error),
        "result_url": result_url(job),
    }


def result_url(job: models.Job) -> str | None:
    """The address of the job's result; None if none is kept, or not any more."""
    if job.result_expires_at is None or job.result_expires_at <= timezone.now():
        return None
    return reverse("api:job_result", kwargs={"job_id": job.pk})


def _seconds(since: datetime, until: datetime | None) -> float:
    # The database's clock wrote them, ours says what time it is: a little apart, never negative.
    return max((until or timezone.now()) - since, timedelta(0)).total_seconds()
