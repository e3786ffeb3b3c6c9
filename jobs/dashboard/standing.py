"""The standing of each tenant that has work, from one snapshot. Pure."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from jobs.dashboard.looks import Tenant
from jobs.dashboard.snapshot import Snapshot
from jobs.dashboard.waits import PROCESS, Cut
from jobs.engine.explain.gates import Gate


class State(StrEnum):
    """In the order in which tenants need attention."""

    PAUSED = "paused"  # or without slots, and jobs wait
    FULL = "full"  # holds all its slots, and more jobs wait
    LIMITED = "limited"  # out of tokens of its rate limit
    WAITING = "waiting"  # for a queue or for a process
    BUSY = "busy"
    IDLE = "idle"


@dataclass(frozen=True)
class Standing:
    """first_since: since when the first in line of its longest waiting lane has waited. about: waiting is not exact."""

    tenant: Tenant
    state: State
    held: int
    waiting: int
    about: bool
    first_since: datetime | None


def standings(snapshot: Snapshot, cuts: Iterable[Cut]) -> list[Standing]:
    """Of all tenants with work in the snapshot: those that need attention first, then by their waiting jobs."""
    gates: dict[int, set[Gate]] = defaultdict(set)
    for cut in cuts:
        gates[cut.tenant_id].add(cut.gate)
    first: dict[int, datetime] = {}
    about: set[int] = set()
    for lane in snapshot.lanes:
        first[lane.tenant_id] = min(first.get(lane.tenant_id, lane.first_since), lane.first_since)
        about |= {lane.tenant_id} if lane.about else set()
    found = [
        Standing(
            tenant,
            state_of(tenant, snapshot.held_by_tenant.get(tenant.id, 0), gates[tenant.id]),
            snapshot.held_by_tenant.get(tenant.id, 0),
            snapshot.waiting_by_tenant.get(tenant.id, 0),
            tenant.id in about,
            first.get(tenant.id),
        )
        for tenant in snapshot.tenants.values()
        if tenant.id in snapshot.held_by_tenant or tenant.id in first
    ]
    order = list(State)
    return sorted(found, key=lambda one: (order.index(one.state), -one.waiting, -one.held, one.tenant.name))


def state_of(tenant: Tenant, held: int, gates: set[Gate]) -> State:
    """The state, by the gates at which its jobs wait."""
    if tenant.paused or not tenant.num_slots:
        return State.PAUSED
    if Gate.SLOTS_FULL in gates:
        return State.FULL
    if Gate.TENANT_RATE in gates:
        return State.LIMITED
    if gates & (PROCESS | {Gate.QUEUE_PAUSED, Gate.QUEUE_FULL, Gate.QUEUE_RATE}):
        return State.WAITING
    return State.BUSY if held else State.IDLE
