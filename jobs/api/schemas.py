"""What goes over the wire, and the OpenAPI description of it."""

from datetime import datetime, timedelta
from typing import Annotated, Any, Self

from django.urls import reverse
from django.utils import timezone
from ninja import Schema
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, StrictBool, StrictFloat, StrictInt

from jobs import models
from jobs.lifecycle import Status


def _storable(text: str) -> str:
    if "\x00" in text:  # PostgreSQL has no such character
        raise ValueError("must not contain the character U+0000")
    return text


def _moment(written: Any) -> Any:
    # Pydantic would also take 1700000000, as seconds since 1970: whoever means a delay had better be told.
    if written is None:
        return None
    try:
        return datetime.fromisoformat(written)
    except (TypeError, ValueError):
        raise ValueError('must be a date and time with a zone, such as "2030-01-31T09:00:00+01:00"') from None


def _key(source_id: Any) -> Any:
    return str(source_id) if isinstance(source_id, int) and not isinstance(source_id, bool) else source_id


Text = Annotated[str, AfterValidator(_storable)]
SourceId = Annotated[Text, BeforeValidator(_key, json_schema_input_type=int | str)]
Moment = Annotated[datetime, BeforeValidator(_moment)]


CALL = {"source_type", "source_id", "source_method", "args"}  # the other fields say how to run it


class Submission(Schema):
    """A call to make: of a `@job` method of an object of yours, or of a class where `source_id` is null."""

    model_config = ConfigDict(extra="forbid")

    source_type: Text = Field(examples=["reports.datareport"])
    source_id: SourceId | None = Field(None, examples=["42"])
    source_method: Text = Field(examples=["execute"])
    args: dict[str, Any] = Field({}, description="The method's keyword arguments, at most 256 KiB of JSON.")
    queue: Text | None = Field(None, description="Default: the queue of the method.")
    priority: Annotated[StrictInt, Field(ge=0, le=10)] | None = Field(
        None, description="0 is first, 10 last. Default: the priority of the method."
    )
    delay: Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False)] | None = Field(
        None, description="Seconds to wait; not together with `at`."
    )
    at: Moment | None = Field(None, description="When to start: in the future, with a zone.")
    dedup: StrictBool | None = Field(
        None, description="Return the identical unfinished recent job, if any. Default: what the method says."
    )
    user: Text | None = Field(
        None, max_length=100, description="Which of your users it is for. With a session: always its user."
    )
    timeout: Annotated[StrictFloat, Field(gt=0, allow_inf_nan=False)] | None = Field(
        None, description="Seconds it may run."
    )

    def options(self) -> dict[str, Any]:
        """What was said about how to run it; what was not said is left to the method and its queue."""
        return self.model_dump(exclude=CALL, exclude_none=True)


class Job(Schema):
    """A job, as its tenant sees it."""

    id: int
    status: Status
    source_type: str
    source_id: str | None
    source_method: str
    args: dict[str, Any]
    queue: str
    priority: int
    user: str = Field(description="Empty: for none of your users in particular.")
    attempt: int = Field(description="How many times it was handed to a worker.")
    created_at: datetime
    due_at: datetime | None = Field(description="While scheduled: when it will be ready.")
    queued_at: datetime | None
    start_time: datetime | None
    end_time: datetime | None
    wait_seconds: float = Field(description="From submission to its start; grows until then.")
    run_seconds: float | None = Field(description="From its start to its end; grows until then.")
    progress: float | None = Field(description="0..1, where the job tells it.")
    progress_note: str
    stats: dict[str, Any]
    last_error: str
    result_url: str | None = Field(description="Where the result is, while one is kept.")

    @classmethod
    def of(cls, job: models.Job, **more: Any) -> Self:
        same = {name: getattr(job, name) for name in cls.model_fields if hasattr(job, name)}
        own = {
            "queue": job.queue.name,
            "user": job.user_key,
            "wait_seconds": _seconds(job.created_at, job.start_time or job.end_time),
            "run_seconds": job.start_time and _seconds(job.start_time, job.end_time),
            "result_url": result_url(job),
        }
        return cls(**same | own | more)


class SubmittedJob(Job):
    deduplicated: bool = Field(
        description="True: it was there before, and is identical to what you asked for."
    )


class JobPage(Schema):
    jobs: list[Job] = Field(description="Newest first.")
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


def result_url(job: models.Job) -> str | None:
    """The address of the job's result; None if none is kept, or not any more."""
    if job.result_expires_at is None or job.result_expires_at <= timezone.now():
        return None
    return reverse("api:job_result", kwargs={"job_id": job.pk})


def _seconds(since: datetime, until: datetime | None) -> float:
    # The database's clock wrote them, ours says what time it is: a little apart, never negative.
    return max((until or timezone.now()) - since, timedelta(0)).total_seconds()
