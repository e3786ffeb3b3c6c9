"""The schemas of requests about schedules. The engine checks their meaning."""

from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import Field, StrictFloat

from jobs.authoring.recurrence import CATCH_UP_HELP, OVERLAP_HELP
from jobs.http.inputs import (
    EXAMPLE,
    Body,
    Call,
    Moment,
    Name,
    Priority,
    SourceId,
    Text,
    Title,
    Whole,
    left_out,
    with_example,
)

MOST_LISTED = 100

Seconds = Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False)]
CatchUp = Literal["none", "one", "all"]
Overlap = Literal["skip", "queue", "cancel"]

EVERY_HELP = "Seconds between two due times. Give either this or `cron`."
CRON = "Five fields, or `@daily` and the like, in the time zone `tz`."
JITTER = "Seconds: each run is delayed by a fixed part of them, which differs between schedules."
ENDS_AT = "The last possible due time, with a time zone. Null: it does not end."
RULE: dict[str, Any] = {"cron": "0 6 * * 1-5", "tz": "Europe/Berlin"}


class ScheduleRule(Body):
    """The rule of the due times."""

    model_config = with_example(**RULE)

    every: Seconds | None = Field(None, description=EVERY_HELP, examples=[3600])
    cron: Text = Field("", description=CRON, examples=["0 6 * * 1-5"])
    tz: Name = Field("UTC", examples=["Europe/Berlin"])
    starts_at: Moment | None = Field(None, description="The first possible due time, with a time zone. Default: now.")
    ends_at: Moment | None = Field(None, description=ENDS_AT)


class NewSchedule(ScheduleRule, Call):
    """A call that recurs."""

    model_config = with_example(name="Every working day", **EXAMPLE, **RULE)

    name: Title = Field(description="Unique among your schedules.", examples=["Every working day"])
    jitter: Seconds = Field(0.0, description=JITTER)
    catch_up: CatchUp = Field("one", description=CATCH_UP_HELP)
    overlap: Overlap = Field("queue", description=OVERLAP_HELP)


class ScheduleChange(Body):
    """The fields to change; omitted fields stay as they are. `every` replaces `cron`, and `cron` replaces `every`."""

    model_config = with_example(every=3600, queue="reports")

    name: Title = left_out("Unique among your schedules.")
    source_type: Text = left_out("The model of the object.")
    source_id: SourceId | None = Field(None, description="Null: a job of the class.")
    source_method: Name = left_out("The method.")
    args: dict[str, Any] = left_out("All arguments; they replace the old ones.")
    queue: Name | None = Field(None, description="Null: the queue of the method.")
    priority: Priority | None = Field(None, description="Null: the priority of the method.")
    every: Seconds | None = Field(None, description=EVERY_HELP)
    cron: Text = left_out(CRON)
    tz: Name = left_out("The time zone of `cron`.")
    jitter: Seconds = left_out(JITTER)
    starts_at: Moment = left_out("The first possible due time, with a time zone.")
    ends_at: Moment | None = Field(None, description=ENDS_AT)
    catch_up: CatchUp = left_out(CATCH_UP_HELP)
    overlap: Overlap = left_out(OVERLAP_HELP)


class WantedSchedules(Schema):
    """Filters of the list of schedules."""

    after: Title | None = Field(None, description="Only names after this one, copied from `next` of the previous page.")
    limit: Whole = Field(20, ge=1, le=MOST_LISTED)
