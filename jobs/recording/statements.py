"""The statements of the recorder: its tasks, and what it reads and notes of the jobs in slots and in line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from jobs.models import Recorded
from jobs.reading.looking import Lane, reading_as_sets
from jobs.store.rows import rows

LANES, OF_A_LANE = 200, 10  # the most lanes, and the most jobs of each, that `may_run` looks at


def begin_task(task: str, reach: float, *, pause: float | None = None) -> tuple[datetime, datetime]:
    """Lock a task of the recorder for this transaction; return the moment it has recorded up to, and the time now.

    reach: the seconds to look back at first, and when the clock was set back
    pause: the most seconds to look back after a pause; None: as reach
    """
    ((upto, now),) = rows("begin_task", task=task, reach=reach, pause=reach if pause is None else pause)
    return upto, now


def end_task(task: str, upto: datetime, **findings: Any) -> None:
    """Note the moment that the task has recorded up to, and its findings.

    findings: values by the columns of `recorded`
    """
    Recorded.objects.filter(task=task).update(upto=upto, **findings)


def record_peaks(day: date, slots: Mapping[int, int]) -> None:
    """Note the slots in use of each tenant, where they are more than found before on this day."""
    rows("record_peaks", day=day, tenants=list(slots), slots=list(slots.values()))


def record_slots(hour: datetime, seconds: Mapping[int, float], most: Mapping[int, int]) -> None:
    """Add a minute to the hour of each tenant.

    seconds: those that processes worked for it
    most: the most slots in use
    """
    ids = list(most)
    rows("record_slots", hour=hour, tenants=ids, seconds=[seconds.get(pk, 0.0) for pk in ids], most=list(most.values()))


@dataclass(frozen=True)
class LaneWork:
    """The work in a lane.

    in_use: its slots in use
    in_line: its jobs in line
    slots: the slots of its tenant
    weight: the weight of its tenant
    paused: whether its tenant is paused
    """

    tenant_id: int
    queue_id: int
    in_use: int
    in_line: Lane
    slots: int
    weight: int
    paused: bool


def work() -> list[LaneWork]:
    """Return the work in all lanes with jobs in line or in slots."""
    with reading_as_sets():
        lanes = rows("work", tenants=None)
    return [
        LaneWork(tenant, queue, in_use, Lane(tenant, queue, gate, no_tokens, waiting, passing), *of_tenant)
        for tenant, queue, in_use, waiting, gate, no_tokens, passing, *of_tenant in lanes
    ]


def record_shares(minute: Mapping[int, tuple[float, float]], short: float, long: float) -> list[tuple[float, float]]:
    """Add a minute to the sums of each tenant; return both sums of about the last hour, for all tenants.

    minute: the seconds that a tenant got, and those that it was entitled to
    short: the part that stays of the former sums for about the last 5 minutes
    long: the part that stays of the former sums for about the last hour
    """
    got, entitled = [pair[0] for pair in minute.values()], [pair[1] for pair in minute.values()]
    return rows("record_shares", tenants=list(minute), got=got, entitled=entitled, short=short, long=long)


def may_run(known: Sequence[int]) -> list[tuple[int, datetime, str, bool]]:
    """Return some jobs that may run: since when each is ready, its pool, and whether that has an idle process.

    known: jobs that are looked at in any case
    """
    with reading_as_sets():
        return rows("may_run", seen=known, most=LANES, each=OF_A_LANE, tenants=None)


def note_pools() -> None:
    """Note the processes of each pool, where they have changed."""
    rows("note_pools")
