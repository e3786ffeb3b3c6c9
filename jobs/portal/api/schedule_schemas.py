"""The schemas of responses about schedules."""

from datetime import datetime
from typing import Any

from ninja import Schema
from pydantic import Field

from jobs import models
from jobs.reading import schedule_view

RUNS = 10  # the latest runs in an answer


class ListedSchedule(Schema):
    """A schedule in a list, without the long fields."""

    id: int
    name: str
    source_type: str
    source_id: str | None
    source_method: str
    queue: str | None = Field(description="Null: the queue of the method.")
    priority: int | None = Field(description="Null: the priority of the method.")
    every: float | None = Field(description="Seconds between two due times. Null: `cron` decides.")
    cron: str = Field(description="Empty: `every` decides.")
    tz: str
    in_words: str = Field(description="The rule in English.")
    jitter: float
    starts_at: datetime
    ends_at: datetime | None
    catch_up: str
    overlap: str
    paused: bool
    paused_because: str = Field(
        description="The reason if the scheduler paused it, or if no code declares it any more. "
        "Empty: it is not paused, or a person paused it."
    )
    declared: bool = Field(
        description="True: the code declares it for each tenant that opted in, so it cannot be changed. "
        "It can be deleted when no code declares it any more."
    )
    next_at: datetime | None = Field(
        description="The moment of the next run, with its jitter. Null: it is paused, no code declares it any more, or "
        "it has ended."
    )
    late_seconds: float | None = Field(description="The seconds by which the next run is late. Null: it is not late.")


class RunOfSchedule(Schema):
    """The outcome of one due time."""

    due: datetime
    job_id: int | None = Field(description="Null: no job was submitted.")
    note: str = Field(description="The reason why no job was submitted, or why this one was.")


class Schedule(ListedSchedule):
    """A call that recurs."""

    args: dict[str, Any]
    next_times: list[datetime] = Field(description="The next five due times, without jitter.")
    runs: list[RunOfSchedule] = Field(description="The last ten runs, latest first.")


class SchedulePage(Schema):
    schedules: list[ListedSchedule] = Field(description="By name.")
    next: str | None = Field(description="The address of the next page. Null: this is the last page.")


class RulePreview(Schema):
    """A valid rule."""

    in_words: str
    next_times: list[datetime] = Field(description="The next five due times; fewer if the rule ends before.")


class StartedRun(Schema):
    job_id: int
    url: str = Field(description="The address of the job.")


OWN = {"in_words", "late_seconds"}  # fields that are no columns


def listed(schedule: models.Schedule) -> dict[str, Any]:
    """Return the values of a `ListedSchedule`, by field."""
    columns = {name: getattr(schedule, name) for name in ListedSchedule.model_fields.keys() - OWN}
    return columns | {"in_words": schedule_view.in_words(schedule), "late_seconds": schedule_view.late(schedule)}


def whole(schedule: models.Schedule) -> dict[str, Any]:
    """Return the values of a `Schedule`, by field."""
    runs = schedule.runs.order_by("-due").values("due", "job_id", "note")[:RUNS]
    return listed(schedule) | {
        "args": schedule.args,
        "next_times": schedule_view.next_times(schedule),
        "runs": list(runs),
    }
