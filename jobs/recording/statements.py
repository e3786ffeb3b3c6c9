"""Statistics: count the log of attempts into minutes, hours and totals; sample what is under way."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from jobs.reading.looking import Lane, as_sets, reading_as_sets
from jobs.reading.statistics import BOUNDS
from jobs.store.rows import rows

NOTED, NOTED_OF_A_LANE = 200, 10  # jobs that may run


def begin_task(
    task: str, reach: float, now: datetime | None = None, *, pause: float | None = None
) -> tuple[datetime, datetime]:
    """Lock a task of the recorder for this transaction; return the moment it has recorded up to, and the time now.

    reach: the seconds to look back at first, and when the clock was set back. pause: the most after a pause, as reach.
    """
    ((upto, now),) = rows("begin_task", task=task, reach=reach, pause=reach if pause is None else pause, now=now)
    return upto, now


def end_task(task: str, upto: datetime, seconds: float | None = None) -> None:
    """Note the moment that the task has recorded up to, and what it took."""
    rows("end_task", task=task, upto=upto, seconds=seconds)


def record_minutes(starts: datetime, ends: datetime) -> None:
    """Count the attempts that ended in these minutes, of all tenants; correct the totals by the difference."""
    rows("record_minutes", starts=starts, ends=ends, bounds=list(BOUNDS))


def record_hours(starts: datetime, ends: datetime) -> None:
    """Count the attempts that ended in these hours, by tenant."""
    rows("record_hours", starts=starts, ends=ends, bounds=list(BOUNDS))


def close_day(day: date, since: date, now: datetime) -> None:
    """Bill a day for what ended since that day and was billed for none, and mark it as final."""
    rows("close_day", day=day, since=since, until=day + timedelta(days=1), tenant_id=None)
    rows("mark_closed", day=day, now=now)


def record_peaks(day: date, slots: Mapping[int, int]) -> None:
    """Note the slots in use, by tenant, where they are more than those that were found before on this day."""
    rows("record_peaks", day=day, tenants=list(slots), slots=list(slots.values()))


def forget_usage(day: date) -> None:
    """Delete the usage of the days before this one whose marks are gone."""
    rows("forget_usage", day=day)


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


def work(now: datetime | None = None) -> list[LaneWork]:
    """All lanes with jobs in line or in slots."""
    with reading_as_sets():
        found = rows("work", now=now, tenants=None)
    return [
        LaneWork(
            tenant,
            queue,
            in_use,
            Lane(tenant, queue, gate, no_tokens, 1, waiting, True, None, 0, passing, 0, None),
            *of_tenant,
        )
        for tenant, queue, in_use, waiting, gate, no_tokens, passing, *of_tenant in found
    ]


def worked(seconds: float, now: datetime | None = None) -> list[tuple[int, int, float]]:
    """Tenant, queue, and the seconds that processes worked for them in the last so many seconds."""
    return rows("worked", seconds=seconds, now=now)


def record_shares(minute: Mapping[int, tuple[float, float]], short: float, long: float) -> list[tuple[float, float]]:
    """Add the seconds that each tenant got of this minute, and was entitled to; both of about the last hour, of all.

    short, long: the parts of the former sums that stay.
    """
    got, entitled = [pair[0] for pair in minute.values()], [pair[1] for pair in minute.values()]
    return rows("record_shares", tenants=list(minute), got=got, entitled=entitled, short=short, long=long)


def record_full(hour: datetime, tenants: Collection[int]) -> None:
    """Note one more minute of this hour in which these tenants were full."""
    rows("record_full", hour=hour, tenants=list(tenants))


def record_sample(
    minute: datetime,
    *,
    tenants: Mapping[int, object],
    queues: Mapping[int, object],
    pools: Mapping[str, object],
    states: Mapping[str, int],
    fairness: float | None,
) -> None:
    """Note what is under way, once in this minute. For the parts see `jobs.models.Sample`."""
    objects = {"tenants": tenants, "queues": queues, "pools": pools, "states": states}
    rows("record_sample", at=minute, fairness=fairness, **{name: json.dumps(one) for name, one in objects.items()})


def note_may_run(now: datetime | None = None) -> None:
    """Note some of the jobs that may run, for those who look some seconds later."""
    with as_sets():
        rows("note_may_run", most=NOTED, each=NOTED_OF_A_LANE, now=now, tenants=None)


def note_pools(now: datetime | None = None) -> None:
    """Note the processes of each pool, where they have changed."""
    rows("note_pools", now=now)


def forget_changes(moment: datetime) -> None:
    """Delete what no replay of the time from this moment on needs."""
    rows("forget_changes", moment=moment)


def forget_samples(moment: datetime) -> None:
    rows("forget_samples", moment=moment)
