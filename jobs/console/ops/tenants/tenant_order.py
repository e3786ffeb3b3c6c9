"""The orders in which the page lists the tenants that have work. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jobs.reading.standing import TenantStanding

ATTENTION = "needs attention"
SORTS: Mapping[str, Callable[[TenantStanding], tuple[Any, ...]]] = {
    ATTENTION: lambda standing: (),  # a snapshot has them in this order
    "waiting": lambda standing: (-standing.waiting, standing.tenant.name),
    "slots in use": lambda standing: (-standing.in_use, standing.tenant.name),
    "first in line": lambda standing: (standing.first_since is None, standing.first_since, standing.tenant.name),
    "name": lambda standing: (standing.tenant.name, standing.tenant.id),
}


def in_order(standings: Sequence[TenantStanding], sort: str) -> Sequence[TenantStanding]:
    """Return the standings of a snapshot in an order.

    sort: one of SORTS; another one for ATTENTION
    """
    return sorted(standings, key=SORTS.get(sort, SORTS[ATTENTION]))
