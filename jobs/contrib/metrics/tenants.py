"""The metrics of the few tenants that JOBS_METRICS_TENANTS names; `/metrics` names none."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from jobs import store
from jobs.reading.health import looks
from jobs.reading.looking import look_lanes, looking


@dataclass(frozen=True)
class TenantNumbers:
    """oldest: seconds that a first job of its lanes has been ready; 0 if none waits. waiting: about."""

    slug: str
    in_use: int
    slots: int
    waiting: int
    oldest: float


GAUGES = {
    "held_jobs": "Jobs that hold a slot.",
    "slots": "Slots of the tenant.",
    "waiting_jobs": "Jobs in line, about.",
    "oldest_waiting_seconds": "Longest time that a first job has been ready.",
}


class TenantsLook(Collector):
    def __init__(self, numbers: Sequence[TenantNumbers]) -> None:
        self._numbers = numbers

    def collect(self) -> Iterator[Metric]:
        for (name, text), field in zip(GAUGES.items(), ("in_use", "slots", "waiting", "oldest"), strict=True):
            family = GaugeMetricFamily(f"scheduler_tenant_{name}", text, labels=["tenant"])
            for one in self._numbers:
                family.add_metric([one.slug], getattr(one, field))
            yield family


def look_tenants(slugs: Sequence[str], now: datetime | None = None) -> list[TenantNumbers]:
    """What these tenants hold and have waiting. A slug of nobody has no line."""
    with looking(looks.TIMEOUT):
        now = now or store.database_now()
        tenants = looks.look_tenants(slugs)
        lanes = look_lanes(now, tenants={tenant.tenant_id for tenant in tenants})
    found = []
    for tenant in tenants:
        own = [lane for lane in lanes if lane.tenant_id == tenant.tenant_id]
        oldest = max(((now - lane.first_since).total_seconds() for lane in own if lane.first_since), default=0.0)
        waiting = sum(lane.waiting for lane in own)
        found.append(TenantNumbers(tenant.slug, tenant.in_use, tenant.slots, waiting, oldest))
    return found
