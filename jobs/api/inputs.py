"""What comes in over the wire. The engine checks what it means; here only its shape is."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Schema
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, StrictBool, StrictFloat, StrictInt

from jobs.api.problems import ProblemError
from jobs.lifecycle import Status
from jobs.request import MAX_WHOLE


def _storable(text: str) -> str:
    if "\x00" in text:  # PostgreSQL has no such character
        raise ValueError("must not contain the character U+0000")
    return text


def as_moment(written: Any) -> Any:
    """A moment as ISO 8601 writes it; the zone is checked by whoever takes it."""
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
Moment = Annotated[datetime, BeforeValidator(as_moment)]
Retries = Annotated[StrictInt, Field(ge=0, le=MAX_WHOLE)]
MOST_AT_ONCE = 1000  # jobs of one request
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
    max_retries: Retries | None = Field(
        None, description="How often a failed attempt is tried again, instead of what the method or its queue says."
    )

    def options(self) -> dict[str, Any]:
        """What was said about how to run it; what was not said is left to the method and its queue."""
        return self.model_dump(exclude=CALL, exclude_none=True)


class Batch(Schema):
    """Calls to make, together or not at all."""

    model_config = ConfigDict(extra="forbid")

    jobs: list[Submission] = Field(min_length=1, max_length=MOST_AT_ONCE)


class Wanted(Schema):
    """Which jobs to list."""

    status: Status | None = None
    source_type: Text | None = None
    source_id: Text | None = None
    before: int | None = Field(None, ge=1, description="Only jobs with a lower id.")
    limit: int = Field(20, ge=1, le=100)


def refuse_unknown_names(request: HttpRequest, known: type[Schema]) -> None:
    """A misspelt filter that is passed over in silence would return everything."""
    if unknown := set(request.GET) - set(known.model_fields):
        message = f"unknown parameter; allowed are {', '.join(known.model_fields)}"
        raise ProblemError.unfit(dict.fromkeys(sorted(unknown), message))
