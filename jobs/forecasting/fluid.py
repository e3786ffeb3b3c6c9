"""Work as a fluid that flows through lanes: for what lies too far to simulate each job.

Queues share the processes of a pool, and lanes those of their queue, by weighted max-min fairness, until a lane is
empty; then the others flow faster. A tenant has its slots once in all its lanes.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, sqrt

from jobs.allocation.shares import entitlement

CUTS = 3  # times that shares are cut to the tenants' slots and given anew
PHASES = 64  # of one horizon: what is empty within a phase counts as empty at its end


@dataclass(frozen=True)
class Flow:
    """A lane. work: seconds of its jobs in line. weight, slots: of its tenant. arriving: seconds of work a second."""

    tenant_id: int
    queue_id: int
    work: float
    weight: float = 1.0
    slots: float = inf
    arriving: float = 0.0


@dataclass(frozen=True)
class Course:
    """How much of a lane's work is done: in each phase so much per second, from its beginning on; the last stays."""

    begins: Sequence[float]
    speeds: Sequence[float]

    def reaches(self, work: float, urgent: float = 0.0) -> tuple[float, float]:
        """When so much work is done, and the speed then. urgent: seconds of work that pass by in each second.

        Infinity if it never is.
        """
        done = 0.0
        for place, (begin, speed) in enumerate(zip(self.begins, self.speeds, strict=True)):
            net = speed - urgent
            end = self.begins[place + 1] if place + 1 < len(self.begins) else inf
            if net > 0 and done + net * (end - begin) >= work:
                return begin + (work - done) / net, speed
            done += net * (end - begin) if isfinite(end) else 0.0
        return inf, 0.0


def courses(
    capacity: float, flows: Sequence[Flow], weights: Mapping[int, float], most: Mapping[int, float], horizon: float
) -> list[Course]:
    """Of each lane. capacity: processes. weights, most: of queues; those without a limit are not in `most`."""
    left = [flow.work for flow in flows]
    begins: list[float] = []
    speeds: list[list[float]] = [[] for _ in flows]
    now = 0.0
    while True:
        shares = _shares(capacity, flows, left, weights, most)
        begins.append(now)
        for place, share in enumerate(shares):
            speeds[place].append(share)
        net = [share - flow.arriving for share, flow in zip(shares, flows, strict=True)]
        ends = [work / speed for work, speed in zip(left, net, strict=True) if work > 0 and speed > 0]
        if not ends or now >= horizon:
            return [Course(begins, found) for found in speeds]
        step = max(min(ends), horizon / PHASES)
        now += step
        left = [max(work - speed * step, 0.0) for work, speed in zip(left, net, strict=True)]


def deviation(before: Sequence[float], speed: float) -> float:
    """Of the time that these jobs take, by the means of their run times: as if each were exponential."""
    return sqrt(2.0 * sum(mean**2 for mean in before)) / speed if speed else inf


def _shares(
    capacity: float,
    flows: Sequence[Flow],
    left: Sequence[float],
    weights: Mapping[int, float],
    most: Mapping[int, float],
) -> list[float]:
    """The processes of each lane: one with work takes what it may, one without what arrives."""
    wishes = [
        flow.slots if work > 0 else min(flow.arriving, flow.slots) for flow, work in zip(flows, left, strict=True)
    ]
    shares = [0.0] * len(flows)
    of_queue: dict[int, list[int]] = defaultdict(list)
    for place, flow in enumerate(flows):
        of_queue[flow.queue_id].append(place)
    for _ in range(CUTS):
        asked = [
            (min(sum(wishes[place] for place in places), most.get(queue_id, inf), capacity), weights[queue_id])
            for queue_id, places in of_queue.items()
        ]
        for places, share in zip(of_queue.values(), entitlement(capacity, asked), strict=True):
            found = entitlement(share, [(wishes[place], flows[place].weight) for place in places])
            for place, part in zip(places, found, strict=True):
                shares[place] = part
        wishes = _within_slots(flows, shares, wishes)
    return [min(share, wish) for share, wish in zip(shares, wishes, strict=True)]


def _within_slots(flows: Sequence[Flow], shares: Sequence[float], wishes: Sequence[float]) -> list[float]:
    """What lanes may ask for so that no tenant has more than its slots in all of them."""
    of_tenant: dict[int, float] = defaultdict(float)
    for flow, share in zip(flows, shares, strict=True):
        of_tenant[flow.tenant_id] += share
    return [
        share * flow.slots / of_tenant[flow.tenant_id] if of_tenant[flow.tenant_id] > flow.slots else wish
        for flow, share, wish in zip(flows, shares, wishes, strict=True)
    ]
