"""Write into the books what a pass visited and took (jobs/sql/claiming/claim/write_down.sql)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import heappush
from math import inf

from jobs.allocation import order
from jobs.allocation.books import Books
from jobs.allocation.line import Line
from jobs.allocation.state import Lane, Pool, Queue, State, Tenant
from jobs.allocation.take import Taken
from jobs.allocation.walk import Tour, Visit


def write_down(books: Books, tours: Sequence[Tour], taken: Sequence[Taken], now: float) -> bool:
    """Return whether another pass may find room for a further job."""
    of_tenant: Counter[Tenant] = Counter()
    of_pool: Counter[Pool] = Counter()
    last: dict[Lane, int] = {}
    for one in taken:
        lane = one.visit.lane
        lane.line.remove(one.job)
        last[lane] = one.job.place
        one.visit.n += 1
        of_tenant[lane.tenant] += 1
        of_pool[lane.queue.pool] += 1
    again = _move_lanes(books, tours, of_tenant, last, now)
    more = any(
        of_pool[tour.queue.pool] < tour.queue.pool.free and (not tour.whole or tour.queue in again) for tour in tours
    )
    _move_turns(tours, now)
    for tenant, n in of_tenant.items():
        full_at = tenant.after(n, now)
        tenant.full_at = tenant.full_at if full_at is None else full_at
        tenant.counted = tenant.user_slots is not None
    ms = order.in_ms(now)
    for one in taken:
        one.job.ticket, one.job.followed = ms, 0
        books.hold(one.visit.lane, one.job)
    return more


def _move_lanes(
    books: Books, tours: Iterable[Tour], of_tenant: Counter[Tenant], last: dict[Lane, int], now: float
) -> set[Queue]:
    """Return the queues in which another pass may find a job that may start.

    A visited lane goes to the end of the circle or leaves it. One that could have been served, but was not, is visited
    first the next time.
    """
    again: set[Queue] = set()
    visits = [(visit.n > 0, visit.lane.position, visit, tour) for tour in tours for visit in tour.visits]
    visits.sort(key=_of_outcome)
    for *_, visit, tour in visits:
        lane = visit.lane
        lane.position = tour.end = books.place()
        lane.state = _state(visit, of_tenant[lane.tenant])
        lane.virtual_time = max(lane.virtual_time, visit.virtual_time - visit.seconds / visit.weight)
        lane.last_user = visit.front.last_user
        books.opens(lane, None)
        if visit.front.line is not None and visit.wanted:
            lane.head = _head(visit.front.line, last.get(lane), lane.head)
        if lane.state is State.READY:
            heappush(lane.queue.circle, (lane.position, lane))
            if _again(visit, tour.room):
                again.add(lane.queue)
        elif lane.state is State.CLOSED and not lane.tenant.paused:
            taken = of_tenant[lane.tenant]
            if visit.free <= taken and lane.tenant.may_borrow(taken):
                again.add(lane.queue)
                books.opens(lane, inf)
            opens_at = lane.tenant.next_at(lane.tenant.after(taken, now))
            if opens_at is not None and opens_at > now:
                books.opens(lane, opens_at)
    return again


def _state(visit: Visit, of_tenant: int) -> State:
    if visit.passed_over:
        return State.READY
    if visit.free <= of_tenant:
        return State.CLOSED
    if visit.front.line is None:
        return State.READY if visit.front.jobs or not visit.front.all_users else State.CLOSED
    return State.READY if visit.front.line else State.EMPTY


def _again(visit: Visit, room: int) -> bool:
    """Whether another pass may find a job of this ready lane that may start."""
    if visit.passed_over or visit.front.line is not None:
        return not visit.passed_over
    return not visit.front.all_users or visit.n < visit.front.startable or visit.n == room


def _head(line: Line, last: int | None, head: int) -> int:
    """The head of a lane from whose line jobs were taken up to the place `last`."""
    if rest := line.first(1):
        return rest[0].place
    return head if last is None else last + 1


def _move_turns(tours: Sequence[Tour], now: float) -> None:
    present: dict[Pool, float] = {}  # the least, of the queues that contend
    for tour in tours:
        if tour.contends:
            present[tour.queue.pool] = min(present.get(tour.queue.pool, inf), tour.present)
    for tour in tours:
        queue, pool = tour.queue, tour.queue.pool
        if tour.contends:
            queue.virtual_time = max(queue.virtual_time, tour.present - tour.seconds / queue.weight)
        queue.pool_time = max(queue.pool_time, present.get(pool, queue.pool_time))
        pool.time = max(pool.time, queue.pool_time)
        full_at = queue.after(sum(visit.n for visit in tour.visits), now)
        queue.full_at = queue.full_at if full_at is None else full_at
        _move_round(queue, tour)
        queue.timed_at, queue.head = now, tour.position


def _move_round(queue: Queue, tour: Tour) -> None:
    """The next round ends with the last lane placed now.

    It must visit every lane once: otherwise the time would follow the lanes that are visited first.
    """
    least, growth = tour.least, tour.least_growth
    queue.lane_time = tour.lane_time
    if not tour.whole:
        least, growth = _lesser(tour.round_least, least), _lesser(queue.round_growth, growth)
    if tour.whole or tour.position >= queue.circle_end:
        queue.lane_time = tour.lane_time if least is None else max(tour.lane_time, least)
        queue.growth = growth or 0.0
        queue.circle_end = tour.end
        least = growth = None
    queue.round_least, queue.round_growth = least, growth


def _lesser(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def _of_outcome(found: tuple[bool, int | None, Visit, Tour]) -> tuple[bool, int]:
    return found[0], found[1] or 0
