"""The standing of each tenant that has work, from one snapshot. Pure."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from jobs.console.ops.looks import Tenant
from jobs.console.ops.snapshot import Snapshot
from jobs.reading import waits
from jobs.reading.looking import Lane
from jobs.reading.shares import percent
from jobs.reading.tenant_state import State, starved, state_of
from jobs.reading.waits import Cut


@dataclass(frozen=True)
class Standing:
    """first_since: since when the first in line of its longest waiting lane has waited. about: waiting is not exact."""

    tenant: Tenant
    state: State
    in_use: int
    waiting: int
    about: bool
    first_since: datetime | None

    @property
    def share(self) -> str:
        """The part that it got of its fair share in the last hour, about; a dash if it was entitled to nothing."""
        return percent(self.tenant.got_hour, self.tenant.entitled_hour)


def _need(one: Standing) -> tuple[Any, ...]:
    return list(State).index(one.state), -one.waiting, -one.in_use, one.tenant.name


ATTENTION = "needs attention"
SORTS: Mapping[str, Callable[[Standing], tuple[Any, ...]]] = {
    ATTENTION: _need,
    "waiting": lambda one: (-one.waiting, one.tenant.name),
    "slots in use": lambda one: (-one.in_use, one.tenant.name),
    "first in line": lambda one: (one.first_since is None, one.first_since, one.tenant.name),
    "name": lambda one: (one.tenant.name, one.tenant.id),
}


def standings(snapshot: Snapshot, sort: str = ATTENTION) -> Sequence[Standing]:
    """Of the tenants with work that were looked at. sort: one of SORTS."""
    by_need = _by_need(snapshot)
    return by_need if sort == ATTENTION else sorted(by_need, key=SORTS[sort])


@lru_cache(maxsize=1)  # 10,000 tenants take 20 ms, and nothing else of a refresh takes as long
def _by_need(snapshot: Snapshot) -> Sequence[Standing]:
    with_work = {one.tenant_id for one in snapshot.in_use} | {one.tenant_id for one in snapshot.lanes}
    tenants = [tenant for pk, tenant in snapshot.tenants.items() if pk in with_work]
    found = of_tenants(snapshot, tenants, snapshot.lanes, snapshot.cuts)
    return tuple(sorted(found, key=_need))


def of_tenants(
    snapshot: Snapshot, tenants: Iterable[Tenant], lanes: Iterable[Lane], found: Iterable[Cut] | None = None
) -> list[Standing]:
    """The standing of these tenants; lanes: at least theirs. found: where the jobs of these lanes wait."""
    lanes = list(lanes)
    cuts: dict[int | None, list[Cut]] = defaultdict(list)
    for cut in waits.cuts(lanes, snapshot.queues) if found is None else found:
        cuts[cut.tenant_id].append(cut)
    own: dict[int | None, list[Lane]] = defaultdict(list)
    for lane in lanes:
        own[lane.tenant_id].append(lane)
    return [_standing(snapshot, tenant, own[tenant.id], cuts[tenant.id]) for tenant in tenants]


def _standing(snapshot: Snapshot, tenant: Tenant, lanes: list[Lane], cuts: list[Cut]) -> Standing:
    in_use = snapshot.in_use_by_tenant.get(tenant.id, 0)
    return Standing(
        tenant,
        state_of(
            paused=tenant.paused,
            slots=tenant.num_slots,
            in_use=in_use,
            gates={cut.gate for cut in cuts},
            starved=starved(tenant, lanes, cuts, snapshot.now),
        ),
        in_use,
        sum(lane.waiting for lane in lanes),
        any(lane.about for lane in lanes),
        min((lane.first_since for lane in lanes if lane.first_since), default=None),
    )
