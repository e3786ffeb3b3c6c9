"""What only the pages look at, beside `jobs.reading.looking`: a few bounded statements. Reads only."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from jobs.console.ops.charts import Ended
from jobs.models import HELD_UNTIL
from jobs.reading.looking import Lane, Tenant, look_lanes, look_tenants, looking
from jobs.store import Run
from jobs.store.rows import objects, rows

Row = TypeVar("Row")

MAX_COUNT = 2_000  # jobs that are counted for one number
MAX_WORKED = 20_000  # those of all workers


@dataclass(frozen=True)
class Worked:
    """ended: jobs in the last minute. crashes: attempts in the last day whose process died with them."""

    ended: int = 0
    crashes: int = 0


@dataclass(frozen=True)
class Counts:
    """Each number is at most MAX_COUNT. now: the database's clock."""

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


@dataclass(frozen=True)
class Sample:
    """A moment: objects by the id of a tenant or queue, or by the name of a pool, as the recorder wrote them."""

    at: datetime
    tenants: Mapping[str, Mapping[str, int]]
    queues: Mapping[str, Mapping[str, int]]
    pools: Mapping[str, Mapping[str, int]]


def runs(schedule_ids: Collection[int], *, most: int) -> list[Run]:
    """The last runs of each of these schedules, latest first."""
    return _objects(Run, "look_runs", ids=list(schedule_ids), most=most)


def tenants(ids: Collection[int]) -> dict[int, Tenant]:
    """Those of these tenants that exist, by id."""
    with looking():
        return look_tenants(ids)


def lanes_of(tenants: set[int]) -> list[Lane]:
    """The lanes of these tenants with jobs in line."""
    with looking():
        return look_lanes(tenants=tenants)


def worked() -> dict[UUID, Worked]:
    """By the id of a worker; without those that did nothing."""
    return {worker: Worked(*counted) for worker, *counted in _rows("look_worked", most=MAX_WORKED)}


def counts() -> Counts:
    """The numbers that are not in a line."""
    return _objects(Counts, "look_counts", most=MAX_COUNT, held_until=HELD_UNTIL)[0]


def minutes(since: datetime, until: datetime, step: timedelta) -> list[Ended]:
    """The attempts of all tenants by steps that begin at `since`."""
    return _objects(Ended, "look_minutes", since=since, until=until, step=step)


def samples(since: datetime, tenant_ids: Collection[int], *, step: int) -> list[Sample]:
    """What was under way, once in `step` minutes; of these tenants."""
    ids = [str(pk) for pk in tenant_ids]
    found = _rows("look_samples", since=since, ids=ids, step=step)
    return [Sample(at, *(json.loads(one) for one in texts)) for at, *texts in found]  # Django leaves JSON as a text


def day(tenant_ids: Collection[int], since: datetime) -> list[tuple[int, str, int, Sequence[int]]]:
    """(tenant, outcome, attempts, histogram of waiting times) of what ended since."""
    return [(*row,) for row in _rows("look_day", ids=list(tenant_ids), since=since)]


def full(since: datetime) -> dict[int, int]:
    """The minutes in which all slots of a tenant were in use while jobs waited; since an hour began."""
    return dict(_rows("look_full", since=since))


def held_types() -> dict[tuple[str, str], int]:
    """The held jobs of each paused type; among the first MAX_COUNT."""
    found = _rows("look_held_types", held_until=HELD_UNTIL, most=MAX_COUNT)
    return {(source_type, method): jobs for source_type, method, jobs in found}


def hours(tenant_id: int, since: datetime) -> list[Ended]:
    return _objects(Ended, "look_hours", tenant_id=tenant_id, since=since)


def _rows(name: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
    with looking():
        return rows(name, **parameters)


def _objects(kind: type[Row], name: str, /, **parameters: Any) -> list[Row]:
    with looking():
        return objects(kind, name, **parameters)
