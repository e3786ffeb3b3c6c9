"""The metrics of the few tenants that JOBS_METRICS_TENANTS names; `/metrics` names none."""

from collections.abc import Iterator, Mapping, Sequence

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from jobs import store
from jobs.contrib.metrics.collector import gauge
from jobs.reading import present
from jobs.reading.health.looks import TIMEOUT
from tenants.conf import TENANT_SLUG
from tenants.tenant_model import all_tenants

GAUGES = {
    "slots_in_use": "Slots in use.",
    "slots": "Slots of the tenant.",
    "waiting_jobs": "Jobs in line, about.",
    "oldest_waiting_seconds": "Longest time that a first job has been ready.",
}
Numbers = tuple[float, ...]  # in the order of GAUGES


class TenantsLook(Collector):
    """The metrics of some tenants.

    numbers: by slug, in the order of GAUGES.
    """

    def __init__(self, numbers: Mapping[str, Numbers]) -> None:
        self._numbers = numbers

    def collect(self) -> Iterator[Metric]:
        for place, (name, text) in enumerate(GAUGES.items()):
            rows = [([slug], numbers[place]) for slug, numbers in self._numbers.items()]
            yield gauge(f"tenant_{name}", text, ["tenant"], rows)


def look_tenants(slugs: Sequence[str]) -> dict[str, Numbers]:
    """Return the numbers of these tenants by slug. A slug that no tenant has gets none."""
    now = store.database_now()
    ids = all_tenants().filter(**{f"{TENANT_SLUG}__in": slugs}).values_list("pk", flat=True)
    standings = present.tenants(list(ids), now, seconds=TIMEOUT).values()
    seconds = [(now - standing.first_since).total_seconds() if standing.first_since else 0.0 for standing in standings]
    return {
        standing.tenant.slug: (standing.in_use, standing.tenant.num_slots or 0, standing.waiting, oldest)
        for standing, oldest in zip(standings, seconds, strict=True)
    }
