"""Fair shares: the processes to which each tenant is entitled, and how evenly tenants were served. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from jobs.allocation.shares import entitlement

STARVED = 0.8  # of its entitlement: a tenant that gets less, although it may take a slot and waits, is starved
JUDGED = 30.0  # seconds of entitlement below which a share says nothing


@dataclass(frozen=True, kw_only=True)
class Share:
    """The time of processes that a tenant got, and was entitled to, in seconds.

    got, entitled: in about the last 5 minutes.
    got_hour, entitled_hour: in about the last hour.
    """

    got: float = 0.0
    entitled: float = 0.0
    got_hour: float = 0.0
    entitled_hour: float = 0.0


@dataclass(frozen=True)
class Work:
    """A lane that could use `demand` processes: its jobs in slots and in line, up to the slots of its tenant."""

    tenant_id: int
    queue_id: int
    demand: float
    weight: float  # of the tenant


def entitled(
    capacity: float, work: Iterable[Work], weights: Mapping[int, float], limits: Mapping[int, float] | None = None
) -> dict[int, float]:
    """Return how many processes of a pool each tenant is entitled to.

    As in the claim, its queues share the processes first, and then the tenants of each queue share its part.

    weights: the weights of the queues.
    limits: the limits of the queues that have one.
    """
    of_queue: dict[int, list[Work]] = defaultdict(list)
    for lane in work:
        if lane.demand > 0:
            of_queue[lane.queue_id].append(lane)
    limits = limits or {}
    wishes = [
        (min(sum(lane.demand for lane in lanes), limits.get(queue_id, inf)), weights[queue_id])
        for queue_id, lanes in of_queue.items()
    ]
    processes: dict[int, float] = defaultdict(float)
    for lanes, share in zip(of_queue.values(), entitlement(capacity, wishes), strict=True):
        for lane, part in zip(
            lanes, entitlement(share, [(other.demand, other.weight) for other in lanes]), strict=True
        ):
            processes[lane.tenant_id] += part
    return dict(processes)


def jain(values: Sequence[float]) -> float | None:
    """Jain's index: 1 if all are equal, 1/n if one has all; None if there is nothing to compare.

    Jain, Chiu and Hawe: A Quantitative Measure of Fairness and Discrimination, DEC-TR-301, 1984.
    """
    squares = sum(value**2 for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else None


def is_short(share: Share) -> bool:
    """Return whether a tenant got too little in the last minutes, and in the last hour, too.

    The hour counts since the turn of a tenant with long jobs may come rarely. A small entitlement says nothing.
    """
    return (
        share.entitled > JUDGED
        and share.got < STARVED * share.entitled
        and share.got_hour < STARVED * share.entitled_hour
    )


def percent(part: float, whole: float) -> str:
    """Format the part as "41 %"; "–" if the whole is 0."""
    return f"{part / whole:.0%}".replace("%", " %") if whole else "–"
