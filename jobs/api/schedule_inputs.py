"""Schedules, as they come in over the wire. The engine checks what they mean."""

from typing import Annotated, Any, Literal

from ninja import Path, Schema
from pydantic import Field, StrictFloat, StrictInt

from jobs.api.inputs import Body, Moment, Name, SourceId, Text, Title, Whole, left_out
from jobs.calls.request import LAST_PRIORITY

MOST_LISTED = 100

ScheduleId = Annotated[Whole, Path()]
Seconds = Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False)]
Priority = Annotated[StrictInt, Field(ge=0, le=LAST_PRIORITY)]
CatchUp = Literal["none", "one", "all"]
Overlap = Literal["skip", "queue", "cancel"]

EVERY = "Seconds between two due times. Either this or `cron`."
CRON = "Five fields, or `@daily` and its kin; judged in the zone `tz`."
JITTER = "Seconds: it runs later than due by a part of them, always the same."
CATCH_UP = "Of the times missed while nothing ran: none, the last one, or all up to a hundred."
OVERLAP = "While the last run is not over: skip a time, queue behind it, or cancel it."
ENDS_AT = "Nothing is due later, with a zone. Null: it does not end."


class ScheduleRule(Body):
    """When something is due."""

    every: Seconds | None = Field(None, description=EVERY, examples=[3600])
    cron: Text = Field("", description=CRON, examples=["0 6 * * 1-5"])
    tz: Name = Field("UTC", examples=["Europe/Berlin"])
    starts_at: Moment | None = Field(None, description="Nothing is due earlier, with a zone. Default: now.")
    ends_at: Moment | None = Field(None, description=ENDS_AT)


class NewSchedule(ScheduleRule):
    """A call to make again and again."""

    name: Title = Field(description="Unique among your schedules.", examples=["Every working day"])
    source_type: Text = Field(examples=["reports.datareport"])
    source_id: SourceId | None = Field(None, examples=["42"])
    source_method: Name = Field(examples=["execute"])
    args: dict[str, Any] = Field({}, description="The method's keyword arguments, at most 256 KiB of JSON.")
    queue: Name | None = Field(None, description="Default: the queue of the method.")
    priority: Priority | None = Field(None, description="0 is first, 10 last. Default: the priority of the method.")
    jitter: Seconds = Field(0.0, description=JITTER)
    catch_up: CatchUp = Field("one", description=CATCH_UP)
    overlap: Overlap = Field("queue", description=OVERLAP)


class ScheduleChange(Body):
    """What to change; what is left out stays. `every` takes the place of `cron`, and the reverse."""

    name: Title = left_out("Unique among your schedules.")
    source_type: Text = left_out("What it is a job of.")
    source_id: SourceId | None = Field(None, description="Null: a job of the class.")
    source_method: Name = left_out("The method.")
    args: dict[str, Any] = left_out("All arguments: they are replaced.")
    queue: Name | None = Field(None, description="Null: the queue of the method.")
    priority: Priority | None = Field(None, description="Null: the priority of the method.")
    every: Seconds | None = Field(None, description=EVERY)
    cron: Text = left_out(CRON)
    tz: Name = left_out("The zone of `cron`.")
    jitter: Seconds = left_out(JITTER)
    starts_at: Moment = left_out("Nothing is due earlier, with a zone.")
    ends_at: Moment | None = Field(None, description=ENDS_AT)
    catch_up: CatchUp = left_out(CATCH_UP)
    overlap: Overlap = left_out(OVERLAP)


class WantedSchedules(Schema):
    """Which schedules to list."""

    after: Title | None = Field(None, description="Only names that come later, as in the `next` of the page before.")
    limit: Whole = Field(20, ge=1, le=MOST_LISTED)
