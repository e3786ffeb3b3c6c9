"""The schemas of usage, for a tenant's bill."""

from datetime import date, datetime
from typing import Annotated

from ninja import Schema
from pydantic import Field

from jobs.http.inputs import Text

TARGETED = Field(description="How many of the attempts started while their queue had a wait target.")
IN_TIME = Field(description="How many of `targeted` waited for a process no longer than that target.")
Day = Annotated[Text, Field(json_schema_extra={"format": "date"})]


class Period(Schema):
    """Days in UTC, such as 2030-01-31."""

    starts: Day | None = Field(None, alias="from", description="The first day. Default: the first of this month.")
    ends: Day | None = Field(None, alias="to", description="The day after the last one. Default: tomorrow.")
    by: Text | None = Field(
        None, description="How to group, separated by commas: day, queue, type, outcome. Default: day."
    )


class UsageLine(Schema):
    """Attempts that ended. Fields that `by` does not name are null. A job that was retried has several attempts."""

    tenant: str | None = Field(description="The slug of the tenant.")
    day: date | None
    queue: str | None
    source_type: str | None
    source_method: str | None
    outcome: str | None
    attempts: int
    worker_seconds: float = Field(description="The run times of all these attempts together, to the microsecond.")
    targeted: int = TARGETED
    in_time: int = IN_TIME
    units: dict[str, int] = Field(description="What the jobs said they used, by unit, such as tokens.")
    peak_slots: int | None = Field(
        description="The most slots in use, sampled each minute. Null: no sample, or the line is not by tenant and day."
    )


class Usage(Schema):
    starts: date = Field(alias="from", serialization_alias="from")
    ends: date = Field(alias="to", serialization_alias="to", description="The day after the last one.")
    final: bool = Field(description="True: all its days are closed, and these numbers do not change any more.")
    final_at: datetime | None = Field(description="When its last day was closed.")
    counted_at: datetime | None = Field(description="When the current hour was last counted. Null: never.")
    attempts: int
    worker_seconds: float
    targeted: int = TARGETED
    in_time: int = IN_TIME
    units: dict[str, int] = Field(description="The sums of all lines, by unit.")
    usage: list[UsageLine]
