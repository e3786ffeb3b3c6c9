"""Rates at which lanes get their work done, by fair shares of processes: for lines too long to simulate each job.

Queues share the processes of a pool, and lanes those of their queue, by weighted max-min fairness. When a lane is
empty, the others flow faster. A tenant's slots bound the sum over all its lanes.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, sqrt

from jobs.allocation.shares import entitlement

CUTS = 3  # times that the shares are computed, and cut to the tenants' slots
PHASES = 64  # the most phases of a horizon: a lane that is empty within a phase counts as empty at its end


@dataclass(frozen=True)
class Flow:
    """A lane of the model.

    work: the run time of all its jobs in line, in seconds
    weight: the weight of its tenant
    slots: the processes that its tenant's limits allow in all its lanes together
    arriving: the run time of the jobs that arrive in a second, in seconds
    """

    tenant_id: int
    queue_id: int
    work: float
    weight: float = 1.0
    slots: float = inf
    arriving: float = 0.0


@dataclass(frozen=True)
class Course:
    """The speed at which a lane's work is done, phase by phase. The last phase has no end.

    begins: the moment at which each phase begins, in seconds from now
    speeds: the seconds of work that are done in each second of the phase, which is the number of busy processes
    """

    begins: Sequence[float]
    speeds: Sequence[float]

    def reaches(self, work: float, urgent: float = 0.0) -> tuple[float, float]:
        """Return the moment by which so much work is done, and the speed at that moment; infinity if it never is.

        work: in seconds
        urgent: seconds of more urgent work that arrive in each second, and are done first
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
    capacity: float, flows: Sequence[Flow], weights: Mapping[int, float], limits: Mapping[int, float], horizon: float
) -> list[Course]:
    """Return the course of each lane, in the order of `flows`.

    capacity: the processes of the pool
    weights: the weight of each queue, by its id
    limits: the processes that a queue can keep busy, by its id; a queue that is not in it has no limit
    horizon: the seconds after which the speeds stay as they are
    """
    left = [flow.work for flow in flows]
    begins: list[float] = []
    speeds: list[list[float]] = [[] for _ in flows]
    now = 0.0
    while True:
        shares = _shares(capacity, flows, left, weights, limits)
        begins.append(now)
        for place, share in enumerate(shares):
            speeds[place].append(share)
        net = [share - flow.arriving for share, flow in zip(shares, flows, strict=True)]
        ends = [work / speed for work, speed in zip(left, net, strict=True) if work > 0 and speed > 0]
        if not ends or now >= horizon:
            return [Course(begins, lane_speeds) for lane_speeds in speeds]
        step = max(min(ends), horizon / PHASES)
        now += step
        left = [max(work - speed * step, 0.0) for work, speed in zip(left, net, strict=True)]


def deviation(before: Sequence[float], speed: float) -> float:
    """Return the standard deviation of the time in which these jobs are done, in seconds.

    Each job counts with the second moment of an exponential run time, twice the square of its mean.

    before: the mean run time of each job, in seconds
    """
    return sqrt(2.0 * sum(mean**2 for mean in before)) / speed if speed else inf


def _shares(
    capacity: float,
    flows: Sequence[Flow],
    left: Sequence[float],
    weights: Mapping[int, float],
    limits: Mapping[int, float],
) -> list[float]:
    """Return the processes of each lane: all that it may use if it has work, else enough for its arrivals."""
    wishes = [
        flow.slots if work > 0 else min(flow.arriving, flow.slots) for flow, work in zip(flows, left, strict=True)
    ]
    shares = [0.0] * len(flows)
    of_queue: dict[int, list[int]] = defaultdict(list)
    for place, flow in enumerate(flows):
        of_queue[flow.queue_id].append(place)
    for _ in range(CUTS):
        queue_wishes = [
            (min(sum(wishes[place] for place in places), limits.get(queue_id, inf), capacity), weights[queue_id])
            for queue_id, places in of_queue.items()
        ]
        for places, share in zip(of_queue.values(), entitlement(capacity, queue_wishes), strict=True):
            parts = entitlement(share, [(wishes[place], flows[place].weight) for place in places])
            for place, part in zip(places, parts, strict=True):
                shares[place] = part
        wishes = _within_slots(flows, shares, wishes)
    return [min(share, wish) for share, wish in zip(shares, wishes, strict=True)]


def _within_slots(flows: Sequence[Flow], shares: Sequence[float], wishes: Sequence[float]) -> list[float]:
    """Return the most processes of each lane, cut so that no tenant has more than its slots in all its lanes."""
    of_tenant: dict[int, float] = defaultdict(float)
    for flow, share in zip(flows, shares, strict=True):
        of_tenant[flow.tenant_id] += share
    return [
        share * flow.slots / of_tenant[flow.tenant_id] if of_tenant[flow.tenant_id] > flow.slots else wish
        for flow, share, wish in zip(flows, shares, wishes, strict=True)
    ]
