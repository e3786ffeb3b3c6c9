"""The tasks of the recorder, and what it reads and notes of what is under way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from jobs.models import Recorded
from jobs.reading.looking import Lane, reading_as_sets
from jobs.store.rows import rows

LANES, OF_A_LANE = 200, 10  # whose first jobs are looked at


def begin_task(task: str, reach: float, *, pause: float | None = None) -> tuple[datetime, datetime]:
    """Lock a task of the recorder for this transaction; return the moment it has recorded up to, and the time now.

    reach: the seconds to look back at first, and when the clock was set back. pause: the most after a pause, as reach.
    """
    ((upto, now),) = rows("begin_task", task=task, reach=reach, pause=reach if pause is None else pause)
    return upto, now


def end_task(task: str, upto: datetime, **found: Any) -> None:
    """Note the moment that the task has recorded up to, and what else it found, by the columns of `recorded`."""
    Recorded.objects.filter(task=task).update(upto=upto, **found)


def record_peaks(day: date, slots: Mapping[int, int]) -> None:
    """Note the slots in use, by tenant, where they are more than those that were found before on this day."""
    rows("record_peaks", day=day, tenants=list(slots), slots=list(slots.values()))


@dataclass(frozen=True)
class LaneWork:
    """What is under way in a lane: in_use: slots. in_line: its jobs in line. slots, weight, paused: of its tenant."""

    tenant_id: int
    queue_id: int
    in_use: int
    in_line: Lane
    slots: int
    weight: int
    paused: bool


def work() -> list[LaneWork]:
    """All lanes with jobs in line or in slots."""
    with reading_as_sets():
        found = rows("work", tenants=None)
    return [
        LaneWork(tenant, queue, in_use, Lane(tenant, queue, gate, no_tokens, waiting, passing), *of_tenant)
        for tenant, queue, in_use, waiting, gate, no_tokens, passing, *of_tenant in found
    ]


def record_shares(minute: Mapping[int, tuple[float, float]], short: float, long: float) -> list[tuple[float, float]]:
    """Add the seconds that each tenant got of this minute, and was entitled to; both of about the last hour, of all.

    short, long: the parts of the former sums that stay.
    """
    got, entitled = [pair[0] for pair in minute.values()], [pair[1] for pair in minute.values()]
    return rows("record_shares", tenants=list(minute), got=got, entitled=entitled, short=short, long=long)


def may_run(seen: Sequence[int]) -> list[tuple[int, datetime, str, bool]]:
    """Some jobs that may run, those of `seen` among them: since when each is ready, its pool, whether that is idle."""
    with reading_as_sets():
        return rows("may_run", seen=seen, most=LANES, each=OF_A_LANE, tenants=None)


def note_pools() -> None:
    """Note the processes of each pool, where they have changed."""
    rows("note_pools")
