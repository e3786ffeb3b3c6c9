"""The statistics of the last 24 hours: of one tenant, and of all queues."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.models import Recorded
from jobs.reading import present, queries, wait_targets
from jobs.reading.statistics import JobsUnderWay, Summary, summaries
from jobs.reading.wait_targets import WaitTarget

DAY = timedelta(days=1)
MAX_COUNTED = 10_000  # waiting jobs counted by type, of each queue


@dataclass(frozen=True)
class LastDay:
    """Attempts that ended since `since`, as the recorder counted them at `counted_at` (None: it never has).

    queues: by name.
    types: by source type and method.
    targets: how often the wait targets of queues were kept, also in the last 30 days.
    """

    since: datetime
    counted_at: datetime | None
    queues: dict[tuple[str, ...], Summary]
    types: dict[tuple[str, ...], Summary]
    targets: list[WaitTarget]


def of_tenant(tenant_id: int, now: datetime) -> LastDay:
    """Return the statistics of one tenant: of 24 hours, and of the part of an hour before them."""
    since = now.replace(minute=0, second=0, microsecond=0) - DAY
    ended, under_way = queries.ended(tenant_id, since), queries.under_way(tenant_id, MAX_COUNTED)
    return LastDay(
        since,
        _counted_at("hours"),
        queues=summaries(ended, under_way, "queue"),
        types=summaries(ended, under_way, "source_type", "source_method"),
        targets=wait_targets.of_tenant(tenant_id, now),
    )


def of_queues(now: datetime) -> LastDay:
    """Return the statistics of all tenants. Jobs under way are counted by queue, not by type."""
    since = now.replace(second=0, microsecond=0) - DAY
    ended = queries.ended_in_queues(since)
    under_way = [
        JobsUnderWay(queue.queue.name, "", "", queue.waiting, queue.in_use) for queue in present.queues().values()
    ]
    return LastDay(
        since,
        _counted_at("minutes"),
        queues=summaries(ended, under_way, "queue"),
        types=summaries(ended, (), "source_type", "source_method"),
        targets=wait_targets.of_queues(now),
    )


def _counted_at(task: str) -> datetime | None:
    return Recorded.objects.filter(task=task).values_list("at", flat=True).first()
