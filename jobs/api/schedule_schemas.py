"""Schedules, as they go out over the wire."""

from datetime import datetime
from typing import Any

from ninja import Schema
from pydantic import Field

from jobs import models
from jobs.engine.schedules import shown

RUNS = 10  # last ones that are told


class ListedSchedule(Schema):
    """A schedule among others: without what may be long."""

    id: int
    name: str
    source_type: str
    source_id: str | None
    source_method: str
    queue: str | None = Field(description="Null: the queue of the method.")
    priority: int | None = Field(description="Null: the priority of the method.")
    every: float | None = Field(description="Seconds; null: by `cron`.")
    cron: str = Field(description="Empty: by `every`.")
    tz: str
    in_words: str = Field(description="When it is due, in English.")
    jitter: float
    starts_at: datetime
    ends_at: datetime | None
    catch_up: str
    overlap: str
    paused: bool
    paused_because: str = Field(description="Why it paused itself; empty: somebody paused it.")
    declared: bool = Field(
        description="By the code, for each tenant that opted in: it can be neither changed nor deleted."
    )
    next_at: datetime | None = Field(description="When it runs next, with its jitter. Null: paused, or ended.")
    late_seconds: float | None = Field(description="By how much that is past; null: it is not.")


class RunOfSchedule(Schema):
    """What became of one due time."""

    due: datetime
    job_id: int | None = Field(description="Null: none was submitted.")
    note: str = Field(description="Why none was, or who asked for it.")


class Schedule(ListedSchedule):
    """A call that is made again and again."""

    args: dict[str, Any]
    next_times: list[datetime] = Field(description="The next five due times, without its jitter.")
    runs: list[RunOfSchedule] = Field(description="The last ten, latest first.")


class SchedulePage(Schema):
    schedules: list[ListedSchedule] = Field(description="By name.")
    next: str | None = Field(description="Where the later ones are.")


class RulePreview(Schema):
    """A rule that could be stored."""

    in_words: str
    next_times: list[datetime] = Field(description="The next five due times; fewer, if it ends before.")


class StartedRun(Schema):
    job_id: int
    url: str = Field(description="Where the job is.")


OWN = {"in_words", "late_seconds"}  # what is no column


def listed(schedule: models.Schedule) -> dict[str, Any]:
    """The values of a `ListedSchedule`, by its fields."""
    columns = {name: getattr(schedule, name) for name in ListedSchedule.model_fields.keys() - OWN}
    return columns | {"in_words": shown.in_words(schedule), "late_seconds": shown.late(schedule)}


def whole(schedule: models.Schedule) -> dict[str, Any]:
    """The values of a `Schedule`, by its fields."""
    runs = schedule.runs.order_by("-due").values("due", "job_id", "note")[:RUNS]
    return listed(schedule) | {"args": schedule.args, "next_times": shown.next_times(schedule), "runs": list(runs)}
