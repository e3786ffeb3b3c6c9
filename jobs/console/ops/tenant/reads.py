"""Read the past of a tenant."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote

from jobs.console.ops.shared import history
from jobs.console.ops.shared.ended_chart import Chart, EndedInStep, chart
from jobs.console.ops.shared.history import HOUR, MINUTE, ChartPeriod
from jobs.console.ops.shared.present_queries import look_objects
from jobs.console.ops.shared.strips import strip
from jobs.pages.cached import PAST_SECONDS, cached
from jobs.reading import queries
from jobs.reading.statistics import Summary, summaries
from tenants.models import Tenant

RANGES = {"24h": (HOUR, 24), "7d": (3 * HOUR, 56), "30d": (12 * HOUR, 60)}  # a step, and the number of steps
QUARTER, QUARTERS = 15, 96  # minutes of a step, and the steps of a day


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
    use: the strip of its slots in use in the last 24 hours
    """

    period: ChartPeriod
    chart: Chart | None
    types: list[NamedSummary]
    targets: list[NamedSummary]
    use: str


def past_of(tenant: Tenant, length: str, jobs: str) -> TenantPast:
    """Return the past of a tenant.

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
        use_of_day(tenant.pk),
    )


@cached(PAST_SECONDS, before=(None, {}, {}))
def ended_attempts(
    tenant_id: int, slug: str, length: str, jobs: str
) -> tuple[Chart | None, Mapping[tuple[str, ...], Summary], Mapping[tuple[str, ...], Summary]]:
    """Draw the chart of the ended attempts of a tenant, and summarise them by job type and by queue."""
    step, count = RANGES[length]
    since = history.minute().replace(minute=0) + HOUR - count * step
    ended = look_objects(EndedInStep, "look_hours", tenant_id=tenant_id, since=since)
    attempts = queries.ended(tenant_id, since)
    types, queues = summaries(attempts, (), "source_type", "source_method"), summaries(attempts, (), "queue")
    return chart(ended, since, step, count, f"{jobs}?q=tenant:{quote(slug)}+"), types, queues


@cached(PAST_SECONDS, before="")
def use_of_day(tenant_id: int) -> str:
    """Draw the slots in use of a tenant, by quarters of an hour, as a strip."""
    since = history.minute() - (QUARTERS - 1) * QUARTER * MINUTE
    since = since.replace(minute=since.minute // QUARTER * QUARTER)
    day = history.samples(since, {tenant_id}, step=QUARTER, count=QUARTERS)
    return strip([sample.use_of_tenant(tenant_id) if sample else None for sample in day])
