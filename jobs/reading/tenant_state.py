"""The standing of a tenant: the state that tells an operator at once why its jobs wait, if they do. Pure."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from enum import StrEnum

from jobs.allocation.gates import Gate
from jobs.reading.looking import Lane
from jobs.reading.shares import Share, is_short
from jobs.reading.waits import PROCESS, Cut

STARVED_AFTER = timedelta(seconds=60)  # for which a job of a starved tenant has waited


class State(StrEnum):
    """In the order in which tenants need attention."""

    PAUSED = "paused"
    NO_SLOTS = "no slots"
    STARVED = "starved"  # may take slots, waits, and gets too little of its share: the operators' fault
    FULL = "full"  # holds all its slots, and more jobs wait
    LIMITED = "limited"  # out of tokens of its rate limit
    WAITING = "waiting"  # for a queue or for a process
    BUSY = "busy"
    IDLE = "idle"


def state_of(*, paused: bool, slots: int | None, in_use: int, gates: Collection[Gate], starved: bool = False) -> State:
    """The state, by the gates at which the jobs of a tenant wait. slots: None if it was never given any."""
    if paused or not slots:
        return State.PAUSED if paused else State.NO_SLOTS
    if starved:
        return State.STARVED
    if Gate.SLOTS_FULL in gates:
        return State.FULL
    if Gate.TENANT_RATE in gates:
        return State.LIMITED
    if gates:
        return State.WAITING
    return State.BUSY if in_use else State.IDLE


def starved(share: Share | None, lanes: Iterable[Lane], found: Iterable[Cut], now: datetime) -> bool:
    """Whether a tenant got too little of its share although a job of it has waited long, and lacks only a process.

    lanes, found: its own.
    """
    open_queues = {cut.queue_id for cut in found if cut.gate in PROCESS}
    return is_short(share) and any(
        lane.first_since is not None and now - lane.first_since > STARVED_AFTER and lane.queue_id in open_queues
        for lane in lanes
    )
