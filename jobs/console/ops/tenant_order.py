"""The tenants that have work, from one snapshot, in the orders that the pages offer. Pure."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from jobs.console.ops.snapshot import Snapshot
from jobs.reading.standing import StandingState, TenantStanding, of_tenants


def _need(one: TenantStanding) -> tuple[Any, ...]:
    return list(StandingState).index(one.state), -one.waiting, -one.in_use, one.tenant.name


ATTENTION = "needs attention"
SORTS: Mapping[str, Callable[[TenantStanding], tuple[Any, ...]]] = {
    ATTENTION: _need,
    "waiting": lambda one: (-one.waiting, one.tenant.name),
    "slots in use": lambda one: (-one.in_use, one.tenant.name),
    "first in line": lambda one: (one.first_since is None, one.first_since, one.tenant.name),
    "name": lambda one: (one.tenant.name, one.tenant.id),
}


def standings(snapshot: Snapshot, sort: str = ATTENTION) -> Sequence[TenantStanding]:
    """Return the standings of the tenants of a snapshot that have work.

    sort: one of SORTS
    """
    by_need = _by_need(snapshot)
    return by_need if sort == ATTENTION else sorted(by_need, key=SORTS[sort])


@lru_cache(maxsize=1)  # 10,000 tenants take 20 ms, and nothing else of a refresh takes as long
def _by_need(snapshot: Snapshot) -> Sequence[TenantStanding]:
    with_work = {one.tenant_id for one in snapshot.in_use} | {one.tenant_id for one in snapshot.lanes}
    tenants = [tenant for pk, tenant in snapshot.tenants.items() if pk in with_work]
    found = of_tenants(tenants, snapshot.lanes, snapshot.queues, snapshot.now, snapshot.cuts)
    return tuple(sorted(found, key=_need))
