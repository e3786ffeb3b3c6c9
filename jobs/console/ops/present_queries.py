"""Looks at the present that only the pages need, besides `jobs.reading.looking`: bounded statements. Reads only."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from jobs.models import HELD_UNTIL, ScheduleRun
from jobs.reading.looking import Lane, Tenant, look_lanes, look_tenants, looking
from jobs.store.rows import objects, rows

Row = TypeVar("Row")

MAX_COUNT = 2_000  # jobs that are counted for one number


@dataclass(frozen=True)
class Counts:
    """Numbers of jobs, each at most MAX_COUNT.

    now: the clock of the database
    """

    now: datetime
    scheduled: int
    held: int
    dead: int
    died_today: int
    died_now: int
    succeeded_now: int
    failed_now: int
    cancelled_now: int

    @property
    def ended_now(self) -> int:
        return self.succeeded_now + self.cancelled_now + self.failing_now

    @property
    def failing_now(self) -> int:
        return self.failed_now + self.died_now


def runs(schedule_ids: Collection[int], *, most: int) -> list[ScheduleRun]:
    """Return the last runs of these schedules, up to `most` of each, latest first."""
    return look_objects(ScheduleRun, "look_runs", ids=list(schedule_ids), most=most)


def tenants(ids: Collection[int]) -> dict[int, Tenant]:
    """Return the tenants with these ids, as far as they exist, by id."""
    with looking():
        return look_tenants(ids)


def lanes_of(tenants: set[int]) -> list[Lane]:
    """Return the lanes of these tenants with jobs in line."""
    with looking():
        return look_lanes(tenants=tenants)


def counts() -> Counts:
    """Count the jobs that are not in line."""
    return look_objects(Counts, "look_counts", most=MAX_COUNT, held_until=HELD_UNTIL)[0]


def held_types() -> dict[tuple[str, str], int]:
    """Count the held jobs of each paused type, among the first MAX_COUNT."""
    found = look("look_held_types", held_until=HELD_UNTIL, most=MAX_COUNT)
    return {(source_type, method): jobs for source_type, method, jobs in found}


def look(name: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a statement, which gives up after a second."""
    with looking():
        return rows(name, **parameters)


def look_objects(kind: type[Row], name: str, /, **parameters: Any) -> list[Row]:
    """Return the rows of a statement as objects of this class. The statement gives up after a second."""
    with looking():
        return objects(kind, name, **parameters)
