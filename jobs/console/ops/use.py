"""Slots and processes that were in use, by the recorder's samples (ADR 0019), kept for half a minute."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from jobs.console.ops import looks, snapshot
from jobs.console.ops.cached import Kept
from jobs.console.ops.looks import Sample
from jobs.console.ops.past import MINUTE, minute
from jobs.console.ops.strips import Strip, curve, strip
from jobs.console.ops.tenant_state import standings

MINUTES = 60
QUARTER, QUARTERS = 15, 96  # minutes of a step, and the steps of a day
TENANTS = 100  # those that need attention first


@dataclass(frozen=True)
class Use:
    """The last hour, by name or id: the use of pools and tenants, and curves of what waited in queues."""

    pools: Mapping[str, Strip] = field(default_factory=dict)
    tenants: Mapping[int, Strip] = field(default_factory=dict)
    queues: Mapping[int, str] = field(default_factory=dict)


def _last_hour(_: None) -> Use:
    seen = snapshot.current()
    tenant_ids = {one.tenant.id for one in standings(seen)[:TENANTS]}
    first = minute() - (MINUTES - 1) * MINUTE
    at = {sample.at: sample for sample in looks.samples(first, tenant_ids, step=1)}
    samples = [at.get(first + minute * MINUTE) for minute in range(MINUTES)]
    known = [sample for sample in samples if sample is not None]
    pools, queues = {name for one in known for name in one.pools}, {pk for one in known for pk in one.queues}
    return Use(
        {name: strip([_pool(one, name) for one in samples]) for name in pools},
        {pk: strip([_tenant(one, pk) for one in samples]) for pk in tenant_ids},
        {int(pk): curve([None if one is None else _waiting(one, pk) for one in samples]) for pk in queues},
    )


def _pool(sample: Sample | None, name: str) -> float | None:
    return None if sample is None else _share(sample.pools.get(name), "processes")


def _tenant(sample: Sample | None, pk: int) -> float | None:
    return None if sample is None else _share(sample.tenants.get(str(pk)), "slots")


def _waiting(sample: Sample, pk: str) -> int:
    return sample.queues.get(pk, {}).get("waiting", 0)


def _share(of: Mapping[str, int] | None, limit: str) -> float:
    """The share of the limit that was held."""
    held = of["held"] if of else 0
    return min(held / of[limit], 1.0) if of and of[limit] else float(held > 0)


def _day_of(tenant_id: int) -> Strip | None:
    """The slots of a tenant, by quarters of an hour."""
    first = minute() - (QUARTERS - 1) * QUARTER * MINUTE
    first = first.replace(minute=first.minute // QUARTER * QUARTER)
    at = {sample.at: sample for sample in looks.samples(first, {tenant_id}, step=QUARTER)}
    samples = [at.get(first + place * QUARTER * MINUTE) for place in range(QUARTERS)]
    return strip([_tenant(one, tenant_id) for one in samples])


last_hour: Kept[None, Use] = Kept(_last_hour, Use())
day_of: Kept[int, Strip | None] = Kept(_day_of, None)
