"""Put the turns in order, and cut them at every limit (jobs/sql/claiming/claim/take.sql)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from operator import attrgetter, itemgetter

from jobs.allocation import order
from jobs.allocation.line import BookedJob
from jobs.allocation.state import Pool
from jobs.allocation.walk import Tour, Visit


@dataclass(slots=True)
class _Turn:
    """Room for a job of a lane.

    nth: its number among the turns of the lane, from 0
    in_pool: its order among the turns of the pool
    """

    visit: Visit
    nth: int
    in_pool: tuple[float, int, int, int]


@dataclass(slots=True)
class Taken:
    """A job that the pass claims.

    order: its pool, the rank of its lane there, and its place
    """

    job: BookedJob
    visit: Visit
    order: tuple[str, int, int]


def take(tours: Sequence[Tour], *, borrow: bool, batch: int) -> list[Taken]:
    """Return the jobs that the pass claims, in order.

    borrow: lend, if no lane could be served within its tenant's own slots
    batch: the most jobs of a tenant
    """
    lends = borrow and not any(_holds_back(tour) for tour in tours)
    turns = [turn for tour in tours for turn in _turns(tour, lends=lends)]
    return _within_users(_within_pools(_within_tenants(turns, batch, lends=lends))) if turns else []


def _holds_back(tour: Tour) -> bool:
    """Return whether a tenant may be entitled to the free processes within its own slots, so that none are lent."""
    return tour.cut or any(visit.passed_over or (visit.own_slots > 0 and visit.startable) for visit in tour.visits)


def _turns(tour: Tour, *, lends: bool) -> Iterator[_Turn]:
    """Yield the turns of the lanes of a queue, within its room."""
    queue = tour.queue
    offers = [
        (_key(visit, n), -visit.weight, visit.lane.position, n, visit)
        for visit in tour.visits
        if (tour.whole or visit.in_time) and (visit.own_slots > 0 or lends)
        for n in range(visit.startable)
    ]
    offers.sort()  # no two of the same position and n
    for nth, (_, _, _, n, visit) in enumerate(offers[: tour.room]):
        key = order.turn(tour.present, queue.in_use + nth, queue.weight)
        yield _Turn(visit, n, (key, -queue.weight, queue.id, nth))


def _key(visit: Visit, before: int) -> float:
    """Return the key of a turn among the lanes of a queue.

    before: the number of turns of the same lane that come first
    """
    return order.turn(visit.virtual_time, visit.lane.in_use + before, visit.weight)


def _within_tenants(turns: list[_Turn], batch: int, *, lends: bool) -> list[_Turn]:
    """Return the turns for which their tenants have slots and tokens; the pools of a tenant take turns."""
    of_tenant: defaultdict[int, list[_Turn]] = defaultdict(list)
    for turn in turns:
        of_tenant[turn.visit.lane.tenant.id].append(turn)
    return [turn for own in of_tenant.values() for turn in _by_turns_of_pools(own, batch, lends=lends)]


def _by_turns_of_pools(turns: list[_Turn], batch: int, *, lends: bool) -> list[_Turn]:
    """Return the turns of one tenant for which it has slots and tokens; its pools take turns."""
    visit = turns[0].visit
    room = int(min(visit.free, batch) if lends else min(visit.free, visit.own_slots, batch))
    if len(turns) <= room:
        return turns
    ranks: defaultdict[str, count[int]] = defaultdict(count)
    ranked = [
        (next(ranks[turn.visit.lane.queue.pool.name]), turn.visit.lane.position, turn.nth, turn)
        for turn in sorted(turns, key=attrgetter("in_pool"))
    ]
    ranked.sort(key=itemgetter(0, 1, 2))
    return [turn for *_, turn in ranked[:room]]


def _within_pools(turns: list[_Turn]) -> dict[Visit, list[int]]:
    """Return the rank in its pool of each lane's first turn, and the number of its turns, within the free processes."""
    served: dict[Visit, list[int]] = {}
    ranks: defaultdict[Pool, int] = defaultdict(int)
    for turn in sorted(turns, key=attrgetter("in_pool")):
        pool = turn.visit.lane.queue.pool
        if (rank := ranks[pool]) < pool.free:
            ranks[pool] = rank + 1
            served.setdefault(turn.visit, [rank, 0])[1] += 1
    return served


def _within_users(served: Mapping[Visit, Sequence[int]]) -> list[Taken]:
    """Return the first jobs of each lane, without those of users who got their last slot in another lane."""
    taken = [
        Taken(job, visit, (visit.lane.queue.pool.name, rank, job.place))
        for visit, (rank, jobs) in served.items()
        for job in visit.first(jobs)
    ]
    if any(claimed.visit.front is not None for claimed in taken):
        taken = list(_cut(sorted(taken, key=lambda claimed: claimed.order[1:])))
    taken.sort(key=attrgetter("order"))
    return taken


def _cut(taken: Iterable[Taken]) -> Iterator[Taken]:
    of_user: Counter[tuple[int, str]] = Counter()
    for claimed in taken:
        tenant, user = claimed.visit.lane.tenant, claimed.job.user
        of_user[tenant.id, user] += 1
        if of_user[tenant.id, user] <= tenant.room_of_user(user):
            yield claimed
