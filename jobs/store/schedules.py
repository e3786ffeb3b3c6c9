"""Schedules: read the due ones, take due times, set the next ones."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from jobs.store.rows import objects, rows

ON_TIME = 60.0  # seconds that a clock may be late, or pause between two looks, until what was due counts as missed

_text = json.JSONEncoder(default=lambda moment: moment.isoformat()).encode


@dataclass(frozen=True)
class DueSchedule:
    """A schedule whose time has come.

    under_way: its last job has not ended. now: the database's clock. missed_upto: what was due before was missed, since
    no clock ran.
    """

    id: int
    tenant_id: int
    by_tenant: bool
    source_type: str
    source_id: str | None
    source_method: str
    args: dict[str, Any]
    queue: str | None
    priority: int | None
    every: float | None
    cron: str
    tz: str
    jitter: float
    starts_at: datetime
    ends_at: datetime | None
    catch_up: str
    overlap: str
    next_due: datetime
    last_job_id: int | None
    under_way: bool
    now: datetime
    missed_upto: datetime


@dataclass(frozen=True)
class Run:
    """The outcome of one due time. job_id: None if no job was submitted, for the reason in `note`."""

    schedule_id: int
    due: datetime
    job_id: int | None = None
    note: str = ""


@dataclass(frozen=True)
class Moved:
    """The next due time of a schedule; None if there is none. why: the reason if it is paused."""

    id: int
    next_due: datetime | None
    next_at: datetime | None
    job_id: int | None = None
    why: str = ""


def due_schedules(batch: int, now: datetime | None = None) -> list[DueSchedule]:
    """At most `batch` schedules that are due, locked for this transaction."""
    found = objects(DueSchedule, "due", batch=batch, on_time=ON_TIME, now=now)
    return [replace(one, args=json.loads(str(one.args))) for one in found]


def note_look(now: datetime | None = None) -> None:
    """Note that a clock runs: what is due from now on is not missed, however late it is served."""
    rows("note_look", on_time=ON_TIME, now=now)


def take_due_times(runs: Iterable[Run]) -> set[tuple[int, datetime]]:
    """Take these due times for this transaction: those that nobody had taken before (I10)."""
    return {(schedule, due) for schedule, due in rows("take", runs=_text([vars(run) for run in runs]))}


def give_back_due_times(runs: Iterable[Run]) -> None:
    """Free these due times again: they got no job."""
    rows("give_back", runs=_text([vars(run) for run in runs]))


def note_runs(runs: Iterable[Run]) -> None:
    """Record the outcomes of due times that were taken."""
    rows("submitted", runs=_text([vars(run) for run in runs]))


def advance_schedules(moved: Iterable[Moved]) -> None:
    """Set the next due times of schedules."""
    rows("advance", moved=_text([vars(one) for one in moved]))


def next_run() -> float | None:
    """Seconds until a schedule is due (negative: late); None if none is to come."""
    found = rows("next_run")
    return found[0][0] if found else None
