"""Read what the page of queues shows besides the snapshot."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from jobs.console.ops.shared import history, snapshot
from jobs.console.ops.shared.heat_map import HOUR, HeatRow, WaitsInHour, heat_map, last_hours
from jobs.console.ops.shared.present_queries import look
from jobs.console.ops.shared.snapshot import MAX_COUNT
from jobs.models import HELD_UNTIL
from jobs.pages.cached import PAST_SECONDS, cached
from jobs.reading import queries
from jobs.reading.statistics import Summary, summaries

OVER_SECONDS = 600.0  # for which hours that are over are kept


@cached(PAST_SECONDS, before={})
def ended_in_last_hour() -> Mapping[tuple[str, ...], Summary]:
    """Summarise the attempts that ended in the last hour, by queue."""
    return summaries(queries.ended_in_queues(history.minute() - history.HOUR), (), "queue")


@cached(PAST_SECONDS, before="")
def waits_by_hour(jobs: str) -> str:
    """Draw how long jobs waited in each queue, by the hour.

    jobs: the address of the list of jobs; "" for users who may not see jobs
    """
    hours = last_hours(history.minute())
    present = hours[-1]
    names = {queue.id: queue.name for queue in snapshot.current().queues.values()}
    waits: dict[int, dict[datetime, WaitsInHour]] = defaultdict(dict)
    for queue_id, hour, *counted in (*past_hours(hours[0], present), *_hours(present, present + HOUR)):
        waits[queue_id][hour] = WaitsInHour.of([(*counted,)])
    return heat_map([HeatRow(name, f"queue:{name}", waits[pk]) for pk, name in names.items()], hours, jobs)


@cached(OVER_SECONDS, before=())
def past_hours(since: datetime, until: datetime) -> Sequence[tuple[Any, ...]]:
    """Return the attempts that ended in hours that are over."""
    return _hours(since, until)


def _hours(since: datetime, until: datetime) -> Sequence[tuple[Any, ...]]:
    return look("look_queue_hours", since=since, until=until)


def held_types() -> dict[tuple[str, str], int]:
    """Count the held jobs of each paused type, among the first MAX_COUNT."""
    rows = look("look_held_types", held_until=HELD_UNTIL, most=MAX_COUNT)
    return {(source_type, method): jobs for source_type, method, jobs in rows}
