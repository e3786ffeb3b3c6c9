"""Read the past of a tenant."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote

from jobs.console.ops.shared import history
from jobs.console.ops.shared.ended_chart import Chart, EndedInStep, chart
from jobs.console.ops.shared.history import HOUR, ChartPeriod
from jobs.console.ops.shared.present_queries import look, look_objects
from jobs.console.ops.tenant.slots_chart import SlotsChart, SlotsInHour, slots_chart
from jobs.pages.cached import PAST_SECONDS, cached
from jobs.reading import queries
from jobs.reading.statistics import Summary, summaries
from tenants.models import Tenant

RANGES = {"24h": (HOUR, 24), "7d": (3 * HOUR, 56), "30d": (12 * HOUR, 60)}  # a step, and the number of steps
HOURS = 24


class NamedSummary(NamedTuple):
    """A job type or a queue, and the summary of its ended attempts."""

    name: str
    summary: Summary


@dataclass(frozen=True)
class TenantPast:
    """The past of a tenant.

    chart: the chart of its ended attempts; None if it could not be read in time
    types: the attempts by job type
    targets: the attempts in queues with a wait target
    use: its slots in use in the last 24 hours; None without any
    """

    period: ChartPeriod
    chart: Chart | None
    types: list[NamedSummary]
    targets: list[NamedSummary]
    use: SlotsChart | None


def past_of(tenant: Tenant, slots: int, length: str, jobs: str) -> TenantPast:
    """Return the past of a tenant.

    slots: those that it has now
    length: one of RANGES; another one for the first of them
    jobs: the address of the list of jobs
    """
    length = length if length in RANGES else next(iter(RANGES))
    drawing, types, queues = ended_attempts(tenant.pk, tenant.jobs_slug, length, jobs)
    return TenantPast(
        ChartPeriod(length, RANGES, RANGES[length][0].total_seconds()),
        drawing,
        [NamedSummary(".".join(name), summary) for name, summary in types.items()],
        [NamedSummary(name, summary) for (name,), summary in queues.items() if summary.targeted],
        use_of_day(tenant.pk, slots),
    )


@cached(PAST_SECONDS, before=(None, {}, {}))
def ended_attempts(
    tenant_id: int, slug: str, length: str, jobs: str
) -> tuple[Chart | None, Mapping[tuple[str, ...], Summary], Mapping[tuple[str, ...], Summary]]:
    """Draw the chart of the ended attempts of a tenant, and summarise them by job type and by queue."""
    step, count = RANGES[length]
    since = history.minute().replace(minute=0) + HOUR - count * step
    back = step * count
    first = since if length == "30d" else since - back  # for the month before, no hours are kept
    ended = look_objects(EndedInStep, "look_hours", tenant_id=tenant_id, since=first)
    attempts = queries.ended(tenant_id, since)
    types, queues = summaries(attempts, (), "source_type", "source_method"), summaries(attempts, (), "queue")
    return chart(ended, since, step, count, f"{jobs}?q=tenant:{quote(slug)}+", before=ended, back=back), types, queues


@cached(PAST_SECONDS, before=None)
def use_of_day(tenant_id: int, slots: int) -> SlotsChart | None:
    """Draw the slots in use of a tenant in the last HOURS hours; None if the recorder has noted none.

    slots: those that it has now
    """
    first = history.minute().replace(minute=0) - (HOURS - 1) * HOUR
    hours = [first + place * HOUR for place in range(HOURS)]
    found = {hour: SlotsInHour(*work) for hour, *work in look("look_slot_hours", tenant_id=tenant_id, hours=hours)}
    return slots_chart([(hour, found.get(hour)) for hour in hours], slots) if found else None
