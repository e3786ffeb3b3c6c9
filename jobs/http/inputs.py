"""The schemas of requests. They check the shape of the input; the engine checks its meaning."""

import json
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

from jobs.calls.request import LAST_PRIORITY, MAX_WHOLE, MOST_OF_SEQUENCE, MOST_PREDECESSORS
from jobs.http.messages import MOMENT
from jobs.http.problems import MOST_ERRORS
from plumbing.bounds import is_whole


class Storable:
    """A text that PostgreSQL can store; its schema excludes the character U+0000."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(_without_nul, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        # Without an example, the docs page would invent one from the pattern: '<i63cyzE9S%}f].
        return {"examples": ["text"]} | handler(schema) | {"pattern": r"^[^\u0000]*$"}


def _without_nul(text: str) -> str:
    if "\x00" in text:
        raise ValueError("must not contain the character U+0000")
    return text


def as_moment(written: Any) -> Any:
    """Return a moment read from ISO 8601. The caller checks its time zone."""
    # Pydantic would read 1700000000 as seconds since 1970; refuse it, since the client may mean a delay.
    if written is None:
        return None
    try:
        moment = datetime.fromisoformat(str.upper(written))  # RFC 3339 allows t and z
        # PostgreSQL rejects offsets of 16 hours or of half a second, so convert the moment to UTC.
        return moment if moment.tzinfo is None else moment.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(MOMENT) from None


def _either(written: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    """Validate seconds or a moment, with one error for the field instead of one for each of the two types."""
    try:
        return handler(written)
    except ValidationError:
        raise ValueError(
            'must be seconds, 0.1 or more, or a date and time with a zone, such as "2030-01-31T09:00:00+01:00"'
        ) from None


def _whole(number: Any) -> Any:
    """Return a float without fraction as an integer: 3.0 and 1e3 are integers in JSON Schema, too."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _key(source_id: Any) -> Any:
    source_id = _whole(source_id)
    return str(source_id) if is_whole(source_id) else source_id


def _in_digits(written: Any) -> Any:
    """Return a whole number of an address if it is in plain digits: not +1, 1.0 or ١, which Python reads as 1."""
    if isinstance(written, str) and not re.fullmatch("-?[0-9]{1,100}", written):
        raise ValueError("must be an integer in decimal digits")
    return written


def _in_decimals(written: Any) -> Any:
    """Return a number of an address if it is in plain decimals: not 1_0, nan or ١.5."""
    if isinstance(written, str) and not re.fullmatch(r"-?[0-9]{0,100}\.?[0-9]{1,100}([eE][+-]?[0-9]{1,9})?", written):
        raise ValueError("must be a number in decimal digits")
    return written


class Body(BaseModel):
    """The body of a request: unknown fields are errors, and the list of errors is bounded."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _not_too_many(cls, sent: Any) -> Any:
        # Each unknown field makes an error, and each error lists the known fields.
        if isinstance(sent, dict) and len(sent) > len(cls.model_fields) + MOST_ERRORS:
            raise ValueError(f"has {len(sent):,} fields; allowed: {', '.join(cls.model_fields)}")
        return sent

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Say defaults in words: generators of clients take a property with a default for one that is always there."""
        described = handler(schema)
        for field in handler.resolve_ref_schema(described).get("properties", {}).values():
            if "default" in field:
                default = f"Default: {json.dumps(field.pop('default'))}."
                field["description"] = " ".join(filter(None, (field.get("description"), default)))
        return described


def with_example(**example: Any) -> ConfigDict:
    """Return the configuration of a body with a whole example: one made of its fields' own need not be accepted."""
    return ConfigDict(json_schema_extra={"example": example})


def left_out(description: str) -> Any:
    """Return a field that may be omitted but is never null; its schema has no default."""
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
AS_INTEGER = BeforeValidator(_whole)  # after the bounds: otherwise pydantic's schema lacks them
Integer = Annotated[StrictInt, AS_INTEGER]
Priority = Annotated[StrictInt, Field(ge=0, le=LAST_PRIORITY), AS_INTEGER]
Retries = Annotated[StrictInt, Field(ge=0, le=MAX_WHOLE), AS_INTEGER]
JobIds = Annotated[
    list[Annotated[StrictInt, Field(ge=1), AS_INTEGER]], Field(min_length=1, max_length=MOST_PREDECESSORS)
]
MOST_AT_ONCE = 1000  # jobs in one request
ARGS = "The method's keyword arguments; as JSON at most 256 KiB, unless the operator has set another limit."
CALL = {"source_type", "source_id", "source_method", "args"}  # the other fields are options


class Call(Body):
    """A call of a `@job` method of one of your objects, or, if `source_id` is null, of a class or a module."""

    source_type: Text = Field(examples=["reports.datareport"])
    source_id: SourceId | None = Field(None, examples=["42"])
    source_method: Name = Field(examples=["execute"])
    args: dict[str, Any] = Field({}, description=ARGS)
    queue: Name | None = Field(None, description="Default: the queue of the method.")
    priority: Priority | None = Field(None, description="0 is first, 10 is last. Default: the priority of the method.")


EXAMPLE: dict[str, Any] = {"source_type": "reports.datareport", "source_id": "42", "source_method": "execute"}


class Submission(Call):
    """A call to make, with its options."""

    model_config = with_example(**EXAMPLE)

    delay: Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False)] | None = Field(
        None, description="Seconds to wait; not together with `at`."
    )
    at: Moment | None = Field(None, description="The moment to start, in the future, with a time zone.")
    expires: Expiry = Field(
        None,
        description="Seconds from when the job may start, or a moment: after it no attempt starts, and the job is"
        " cancelled. Default: the method's own.",
    )
    dedup: StrictBool | None = Field(
        None, description="Return the identical unfinished recent job, if any. Default: the method's own setting."
    )
    identical: Literal["join", "replace", "supersede", "debounce", "gather"] | None = Field(
        None,
        description="How an identical unfinished job is treated. join: it is returned; while it waits, it takes the"
        " better priority, and a retry after a failure is due at once. replace: it is replaced if it waits. supersede:"
        " as replace, and it is asked to stop if it runs. debounce: it starts `delay` seconds after the last call."
        " gather: only for methods that gather calls, whose default it is: the `calls` in `args` are appended to those"
        " of the job that waits. Default: the method's own.",
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

    after: JobIds | None = Field(None, description="Ids of your jobs or batches that must have succeeded first.")
    after_end: JobIds | None = Field(None, description="Ids of your jobs or batches that must have ended first.")
    after_patience: Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False)] | None = Field(
        None,
        description="Seconds in which a job of `after` that failed may be revived; then this job is cancelled.",
    )
    sequence: Annotated[str, Field(min_length=1, max_length=MOST_OF_SEQUENCE), Storable()] | None = Field(
        None,
        description="A name: your jobs of one name run one at a time, in the order of submission. Not together with"
        " `delay`, `at`, `dedup` or `identical`. Default: the method's own.",
    )

    def call(self) -> dict[str, Any]:
        """Return the fields of the call: the method, its object and its arguments."""
        return self.model_dump(include=CALL)

    def options(self) -> dict[str, Any]:
        """Return the options that the client gave; the method and its queue supply the others."""
        return self.model_dump(exclude=CALL, exclude_none=True)


class Submissions(Body):
    """Calls to make, all or none. The answer names the first invalid one."""

    model_config = with_example(jobs=[EXAMPLE, EXAMPLE | {"source_id": "43", "priority": 2}])

    jobs: list[Submission] = Field(min_length=1, max_length=MOST_AT_ONCE, fail_fast=True)


# Not a union with `Status`: an error about a union names two fields.
State = Literal["blocked", "scheduled", "created", "queued", "running", "success", "error", "dead", "cancelled", "held"]


class Wanted(Schema):
    """Filters of the list of jobs."""

    status: State | None = Field(
        None,
        description="`held`: jobs of a paused type, or of a spent budget; they read `scheduled`, with `held` true.",
    )
    source_type: Text | None = None
    source_id: Name | None = None
    source_method: Name | None = None
    user: Name | None = Field(None, description="Your user that the jobs are for.")
    batch: RowId | None = Field(None, description="Your batch that the jobs belong to.")
    sequence: Text | None = Field(None, description="The sequence that the jobs are in.")
    before: RowId | None = Field(None, description="Only jobs with a lower id.")
    limit: Whole = Field(20, ge=1, le=100)
