"""The standing of tenants and queues: what they hold, what waits, and a state that names the cause. Pure."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from jobs.allocation.gates import Gate
from jobs.reading import waits
from jobs.reading.looking import Lane, Queue, Tenant
from jobs.reading.shares import Share, is_short, percent
from jobs.reading.waits import PROCESS, Cut

STARVED_AFTER = timedelta(seconds=60)  # for which a job of a starved tenant has waited


class StandingState(StrEnum):
    """The states, in the order in which they need attention. A queue has no slots of its own, and is never starved."""

    PAUSED = "paused"
    NO_SLOTS = "no slots"
    STARVED = "starved"  # may take slots, waits, and gets too little of its share: operators must act
    FULL = "full"  # holds all its slots, or all that its limit allows, and more jobs wait
    LIMITED = "limited"  # out of tokens of its rate limit, held by a job, or a tenant holds all its slots in a queue
    WAITING = "waiting"  # for another limit or for a process
    BUSY = "busy"
    IDLE = "idle"


OF_TENANT = {
    Gate.SLOTS_FULL: StandingState.FULL,
    Gate.TENANT_RATE: StandingState.LIMITED,
    Gate.LANE_HELD: StandingState.LIMITED,
    Gate.LANE_FULL: StandingState.LIMITED,
}
OF_QUEUE = {
    Gate.QUEUE_HELD: StandingState.LIMITED,
    Gate.QUEUE_FULL: StandingState.FULL,
    Gate.QUEUE_RATE: StandingState.LIMITED,
}


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The state of a tenant or a queue, with its numbers.

    about: whether the number of waiting jobs is not exact.
    first_since: since when the first job of the longest waiting lane has been ready.
    """

    state: StandingState
    in_use: int
    waiting: int
    about: bool
    first_since: datetime | None

    @property
    def numbers(self) -> dict[str, Any]:
        """The numbers and the state, for a JSON document."""
        return {"in_use": self.in_use, "waiting": self.waiting, "waiting_about": self.about, "state": self.state}


@dataclass(frozen=True, kw_only=True)
class TenantStanding(Standing):
    """The standing of a tenant.

    cuts: the gates at which its jobs wait.
    """

    tenant: Tenant
    cuts: Sequence[Cut] = ()

    @property
    def share(self) -> str:
        """The part of its fair share that the tenant got in about the last hour; a dash if it was entitled to none."""
        return percent(self.tenant.got_hour, self.tenant.entitled_hour)


@dataclass(frozen=True, kw_only=True)
class QueueStanding(Standing):
    """The standing of a queue.

    gates: the number of jobs at each gate, most first.
    """

    queue: Queue
    gates: Sequence[tuple[Gate, int]]


def of_tenants(
    tenants: Iterable[Tenant],
    lanes: Iterable[Lane],
    queues: Mapping[int, Queue],
    now: datetime,
    known_cuts: Iterable[Cut] | None = None,
) -> list[TenantStanding]:
    """Return the standing of these tenants.

    lanes: at least those of these tenants.
    known_cuts: the gates at which the jobs of these lanes wait. None: this computes them.
    """
    lanes = list(lanes)
    cuts: dict[int | None, list[Cut]] = defaultdict(list)
    for cut in waits.cuts(lanes, queues) if known_cuts is None else known_cuts:
        cuts[cut.tenant_id].append(cut)
    lanes_of: dict[int | None, list[Lane]] = defaultdict(list)
    for lane in lanes:
        lanes_of[lane.tenant_id].append(lane)
    return [
        TenantStanding(
            tenant=tenant,
            state=state_of(
                paused=tenant.paused,
                slots=tenant.num_slots,
                in_use=tenant.in_use,
                gates={cut.gate for cut in cuts[tenant.id]},
                starved=starved(tenant, lanes_of[tenant.id], cuts[tenant.id], now),
            ),
            in_use=tenant.in_use,
            cuts=cuts[tenant.id],
            **_waiting(lanes_of[tenant.id]),
        )
        for tenant in tenants
    ]


def of_queues(lanes: Iterable[Lane], queues: Mapping[int, Queue]) -> dict[int, QueueStanding]:
    """Return the standing of all queues, by id in the order of their names."""
    lanes_of: dict[int, list[Lane]] = defaultdict(list)
    for lane in lanes:
        lanes_of[lane.queue_id].append(lane)
    standings = {}
    for pk, queue in queues.items():
        gates = waits.by_gate(waits.cuts(lanes_of[pk], queues))
        standings[pk] = QueueStanding(
            queue=queue,
            state=StandingState.PAUSED if queue.paused else _held({gate for gate, _ in gates}, OF_QUEUE, queue.in_use),
            in_use=queue.in_use,
            gates=gates,
            **_waiting(lanes_of[pk]),
        )
    return standings


def _waiting(lanes: Collection[Lane]) -> dict[str, Any]:
    return {
        "waiting": sum(lane.waiting for lane in lanes),
        "about": any(lane.about for lane in lanes),
        "first_since": min((lane.first_since for lane in lanes if lane.first_since), default=None),
    }


def state_of(
    *, paused: bool, slots: int | None, in_use: int, gates: Collection[Gate], starved: bool = False
) -> StandingState:
    """Return the state of a tenant, by the gates at which its jobs wait.

    slots: None if they were never set.
    """
    if paused or not slots:
        return StandingState.PAUSED if paused else StandingState.NO_SLOTS
    return StandingState.STARVED if starved else _held(gates, OF_TENANT, in_use)


def _held(gates: Collection[Gate], of_limits: Mapping[Gate, StandingState], in_use: int) -> StandingState:
    """Return the state for these gates.

    of_limits: the gates of the tenant's or the queue's own limits, and their states.
    """
    if gates:
        return next((state for gate, state in of_limits.items() if gate in gates), StandingState.WAITING)
    return StandingState.BUSY if in_use else StandingState.IDLE


def starved(share: Share, lanes: Iterable[Lane], cuts: Iterable[Cut], now: datetime) -> bool:
    """Return whether a tenant got too little of its share, and one of its jobs has long lacked only a process.

    lanes: those of the tenant.
    cuts: those of the tenant.
    """
    open_queues = {cut.queue_id for cut in cuts if cut.gate in PROCESS}
    return is_short(share) and any(
        lane.first_since is not None and now - lane.first_since > STARVED_AFTER and lane.queue_id in open_queues
        for lane in lanes
    )
