"""One pass of the claim, predicted: the same jobs in the same order."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from jobs.allocation import order, room
from jobs.allocation.nouns import Job, Lane, Pool, Queue


@dataclass(frozen=True)
class _Visit:
    """A lane of the circle. room: of its queue. wanted: how many of the front may go."""

    lane: Lane
    room: int
    front: Sequence[Job]
    wanted: int


@dataclass(frozen=True)
class _Turn:
    """Room for a job of a lane. key: of its queue in its pool. nth: of the queue's turns, from 1."""

    lane: Lane
    key: float
    nth: int
    nth_of_lane: int

    @property
    def in_pool(self) -> tuple[float, int, int, int]:
        return self.key, -self.lane.queue.weight, self.lane.queue.id, self.nth

    @property
    def whose(self) -> int:
        return self.lane.tenant.id


def predict(lanes: Iterable[Lane], pools: Mapping[str, Pool]) -> list[Job]:
    """The jobs that the next pass claims, by pools, and in each by turns.

    lanes: all that are ready. Not known here: rows that others have locked, and the bounds of a pass in visits and
    time. Raises KeyError if there is no such pool.
    """
    of_queue: dict[int, list[Lane]] = defaultdict(list)
    for lane in sorted(lanes, key=lambda lane: lane.position):
        of_queue[lane.queue.id].append(lane)
    visits: dict[tuple[int, int], _Visit] = {}
    turns: list[_Turn] = []
    for circle in of_queue.values():
        walked, whole = _walk(circle, pools[circle[0].queue.pool])
        visits |= {(visit.lane.queue.id, visit.lane.tenant.id): visit for visit in walked}
        turns += _turns([visit for visit in walked if whole or order.in_time(visit.lane)])
    return _within_users(_served(_within_pools(_within_tenants(turns), pools)), visits)


def room_of(queue: Queue, pool: Pool) -> int:
    """The jobs that a pass may take from this queue."""
    if queue.paused:
        return 0
    return int(min(room.left(pool.processes, pool.in_use), room.of_queue(queue), order.JOBS_OF_A_PASS))


def _walk(circle: Sequence[Lane], pool: Pool) -> tuple[list[_Visit], bool]:
    """The visits, round the circle until there is a lane for each job that there is room for; whether it went round."""
    queue = circle[0].queue
    most, found = room_of(queue, pool), 0
    visits: list[_Visit] = []
    for lane in circle:
        if lane.position <= queue.head:
            continue
        if found >= most:
            break
        front, wanted = order.front(lane, int(min(room.of_tenant(lane.tenant), most)))
        visits.append(_Visit(lane, most, front, wanted))
        found += bool(front) and order.in_time(lane)
    return visits, found < most


def _turns(visits: Iterable[_Visit]) -> list[_Turn]:
    """Of the lanes of a queue, within its room."""
    offers = [(visit, n) for visit in visits for n in range(min(len(visit.front), visit.wanted))]
    offers.sort(key=lambda offer: (_key(offer[0].lane, offer[1]), -offer[0].lane.tenant.weight, offer[0].lane.position))
    most = offers[0][0].room if offers else 0
    return [
        _Turn(lane, order.turn(lane.queue.present, lane.queue.in_use + nth, lane.queue.weight), nth + 1, n + 1)
        for nth, (lane, n) in enumerate((visit.lane, n) for visit, n in offers[:most])
    ]


def _key(lane: Lane, before: int) -> float:
    """before: the turns of the lane that come first."""
    return order.turn(order.time_of(lane), lane.in_use + before, lane.tenant.weight)


def _within_tenants(turns: Iterable[_Turn]) -> list[_Turn]:
    """Those for which their tenants have slots and tokens; the pools take turns."""
    ranks: defaultdict[tuple[int, str], count[int]] = defaultdict(count)
    ranked = [(next(ranks[turn.whose, turn.lane.queue.pool]), turn) for turn in sorted(turns, key=lambda t: t.in_pool)]
    ranked.sort(key=lambda pair: (pair[0], pair[1].lane.position, pair[1].nth_of_lane))
    taken: Counter[int] = Counter()
    within = []
    for _, turn in ranked:
        taken[turn.whose] += 1
        if taken[turn.whose] <= min(room.of_tenant(turn.lane.tenant), order.JOBS_OF_A_PASS):
            within.append(turn)
    return within


def _within_pools(turns: Iterable[_Turn], pools: Mapping[str, Pool]) -> list[_Turn]:
    """Those for which their pools have processes, by pool and turn."""
    of_pool: defaultdict[str, list[_Turn]] = defaultdict(list)
    for turn in sorted(turns, key=lambda turn: turn.in_pool):
        of_pool[turn.lane.queue.pool].append(turn)
    return [
        turn
        for name, found in sorted(of_pool.items())
        for turn in found[: int(room.left(pools[name].processes, pools[name].in_use))]
    ]


def _served(turns: Iterable[_Turn]) -> list[tuple[str, int, Lane, int]]:
    """(pool, rank of its first turn in the pool, lane, jobs) of each lane."""
    first: dict[tuple[int, int], tuple[str, int, Lane]] = {}
    jobs: Counter[tuple[int, int]] = Counter()
    ranks: defaultdict[str, count[int]] = defaultdict(count)
    for turn in turns:
        pool, pk = turn.lane.queue.pool, (turn.lane.queue.id, turn.whose)
        first.setdefault(pk, (pool, next(ranks[pool]), turn.lane))
        jobs[pk] += 1
    return [(*found, jobs[pk]) for pk, found in first.items()]


def _within_users(served: Iterable[tuple[str, int, Lane, int]], visits: Mapping[tuple[int, int], _Visit]) -> list[Job]:
    """The first jobs of each lane, without those of users who have got their last slot from another lane."""
    jobs = [
        (rank, job, pool, lane)
        for pool, rank, lane, n in served
        for job in visits[lane.queue.id, lane.tenant.id].front[:n]
    ]
    taken: Counter[tuple[int, str]] = Counter()
    claimed = []
    for rank, job, pool, lane in sorted(jobs, key=lambda found: (found[0], found[1].place)):
        taken[lane.tenant.id, job.user] += 1
        if taken[lane.tenant.id, job.user] <= room.of_user(job.user, lane.tenant.user_slots, lane.tenant.users):
            claimed.append((pool, rank, job.place, job))
    return [job for *_, job in sorted(claimed, key=lambda found: found[:3])]
