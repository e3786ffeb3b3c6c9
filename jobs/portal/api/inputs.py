"""The schemas of requests. They check the shape of the input; the engine checks its meaning."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from ninja import Path, Schema
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StrictBool,
    StrictFloat,
    StrictInt,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core.core_schema import CoreSchema, no_info_after_validator_function

from jobs.calls.request import LAST_PRIORITY, MAX_WHOLE, MOST_PREDECESSORS
from jobs.portal.api.problems import MOST_ERRORS
from tenants.bounds import is_whole


class Storable:
    """A text that PostgreSQL can store; its schema says so."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(_without_nul, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        # A page of documentation would else show a text that it makes of the pattern: '<i63cyzE9S%}f].
        return {"examples": ["text"]} | handler(schema) | {"pattern": r"^[^\u0000]*$"}


def _without_nul(text: str) -> str:
    if "\x00" in text:
        raise ValueError("must not contain the character U+0000")
    return text


def as_moment(written: Any) -> Any:
    """Read a moment in ISO 8601. The caller checks its time zone."""
    # Pydantic would read 1700000000 as seconds since 1970; refuse it, since the client may mean a delay.
    if written is None:
        return None
    try:
        moment = datetime.fromisoformat(str.upper(written))  # RFC 3339 allows t and z
        # PostgreSQL rejects offsets of 16 hours or of half a second, so convert the moment to UTC.
        return moment if moment.tzinfo is None else moment.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise ValueError('must be a date and time with a zone, such as "2030-01-31T09:00:00+01:00"') from None


def _either(written: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    """Seconds or a moment: one refusal, of the field, and not one of each kind."""
    try:
        return handler(written)
    except ValidationError:
        raise ValueError(
            'must be seconds, 0.1 or more, or a date and time with a zone, such as "2030-01-31T09:00:00+01:00"'
        ) from None


def _whole(number: Any) -> Any:
    """The same number without a fraction of zeros: 3.0 and 1e3 are integers in JSON Schema too."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _key(source_id: Any) -> Any:
    source_id = _whole(source_id)
    return str(source_id) if is_whole(source_id) else source_id


def _in_digits(written: Any) -> Any:
    """A number in an address, in plain digits: not +1, 1.0 or ١, each of which Python reads as 1."""
    if isinstance(written, str) and not re.fullmatch("-?[0-9]{1,100}", written):
        raise ValueError("must be an integer in decimal digits")
    return written


def _in_decimals(written: Any) -> Any:
    """The same with a fraction: not 1_0, nan or ١.5."""
    if isinstance(written, str) and not re.fullmatch(r"-?[0-9]{0,100}\.?[0-9]{1,100}([eE][+-]?[0-9]{1,9})?", written):
        raise ValueError("must be a number in decimal digits")
    return written


class Body(BaseModel):
    """A request's body: unknown fields are errors, and the list of errors is bounded."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _not_too_many(cls, sent: Any) -> Any:
        # Each unknown field makes an error, and each error lists the known fields.
        if isinstance(sent, dict) and len(sent) > len(cls.model_fields) + MOST_ERRORS:
            raise ValueError(f"has {len(sent):,} fields; allowed: {', '.join(cls.model_fields)}")
        return sent


def left_out(description: str) -> Any:
    """A field that may be omitted but is never null; its schema says so."""
    return Field(None, description=description, json_schema_extra=_without_default)


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


Text = Annotated[str, Field(max_length=200), Storable()]
Title = Annotated[str, Field(min_length=1, max_length=300), Storable()]
Name = Annotated[str, Field(max_length=100), Storable()]
SourceId = Annotated[Name, BeforeValidator(_key, json_schema_input_type=int | str)]
Whole = Annotated[int, BeforeValidator(_in_digits)]
PathId = Annotated[Whole, Path()]
RowId = Annotated[int, Field(ge=1), BeforeValidator(_in_digits)]
Moment = Annotated[datetime, BeforeValidator(as_moment)]
Expiry = Annotated[Annotated[StrictFloat, Field(ge=0.1, allow_inf_nan=False)] | Moment | None, WrapValidator(_either)]
IN_DECIMALS = BeforeValidator(_in_decimals)
AS_INTEGER = BeforeValidator(_whole)  # after the bounds: otherwise pydantic's schema does not tell them
Integer = Annotated[StrictInt, AS_INTEGER]
Priority = Annotated[StrictInt, Field(ge=0, le=LAST_PRIORITY), AS_INTEGER]
Retries = Annotated[StrictInt, Field(ge=0, le=MAX_WHOLE), AS_INTEGER]
JobIds = Annotated[
    list[Annotated[StrictInt, Field(ge=1), AS_INTEGER]], Field(min_length=1, max_length=MOST_PREDECESSORS)
]
MOST_AT_ONCE = 1000  # jobs in one request
ARGS = "The method's keyword arguments; as JSON at most 256 KiB, unless the operator has set another limit."
CALL = {"source_type", "source_id", "source_method", "args"}  # the other fields say how to run it


class Call(Body):
    """A `@job` method of one of your objects, or of a class if `source_id` is null."""

    source_type: Text = Field(examples=["reports.datareport"])
    source_id: SourceId | None = Field(None, examples=["42"])
    source_method: Name = Field(examples=["execute"])
    args: dict[str, Any] = Field({}, description=ARGS)
    queue: Name | None = Field(None, description="Default: the queue of the method.")
    priority: Priority | None = Field(None, description="0 is first, 10 is last. Default: the priority of the method.")


EXAMPLE: dict[str, Any] = {"source_type": "reports.datareport", "source_id": "42", "source_method": "execute"}


class Submission(Call):
    """A call to make."""

    model_config = ConfigDict(json_schema_extra={"example": EXAMPLE})  # whole: `delay` and `at` exclude each other

    delay: Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False)] | None = Field(
        None, description="Seconds to wait; not together with `at`."
    )
    at: Moment | None = Field(None, description="The moment to start, in the future, with a time zone.")
    expires: Expiry = Field(
        None,
        description="No attempt starts so many seconds after the job may start, or from this moment on: then the job is"
        " cancelled. Default: the method's own.",
    )
    dedup: StrictBool | None = Field(
        None, description="Return the identical unfinished recent job, if any. Default: the method's own setting."
    )
    identical: Literal["join", "replace", "supersede", "debounce"] | None = Field(
        None,
        description="What becomes of an identical job that is under way: it is the answer (join); it is replaced if it"
        " waits (replace), or also asked to stop if it runs (supersede); or it waits on, until `delay` seconds after"
        " the last call (debounce). Default: the method's own.",
    )
    user: Name | None = Field(
        None, description="Your user that the job is for. With a session: always the logged-in user."
    )
    timeout: Annotated[StrictFloat, Field(gt=0, allow_inf_nan=False)] | None = Field(
        None, description="Seconds that the job may run."
    )
    max_retries: Retries | None = Field(
        None, description="The most retries after failures. Default: the number of the method or its queue."
    )

    after: JobIds | None = Field(None, description="Jobs of yours that must have ended well first.")
    after_end: JobIds | None = Field(None, description="Jobs of yours that must have ended first, well or not.")
    after_patience: Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False)] | None = Field(
        None, description="Seconds in which one of them that ended badly may be revived; then this job is cancelled."
    )

    def call(self) -> dict[str, Any]:
        """Which method, of what, with which arguments."""
        return self.model_dump(include=CALL)

    def options(self) -> dict[str, Any]:
        """The options that the client gave; the method and its queue supply the others."""
        return self.model_dump(exclude=CALL, exclude_none=True)


class Submissions(Body):
    """Calls to make, all or none. The answer names the first invalid one."""

    jobs: list[Submission] = Field(min_length=1, max_length=MOST_AT_ONCE, fail_fast=True)


# A union with `Status` would be two fields in the words of a refusal.
State = Literal["blocked", "scheduled", "created", "queued", "running", "success", "error", "dead", "cancelled", "held"]


class Wanted(Schema):
    """Filters of the list of jobs."""

    status: State | None = Field(None, description="`held`: those that are scheduled until their job type is resumed.")
    source_type: Text | None = None
    source_id: Name | None = None
    source_method: Name | None = None
    user: Name | None = Field(None, description="Your user that the jobs are for.")
    batch: RowId | None = Field(None, description="Your batch that the jobs belong to.")
    before: RowId | None = Field(None, description="Only jobs with a lower id.")
    limit: Whole = Field(20, ge=1, le=100)
