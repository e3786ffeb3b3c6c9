"""Write the visits and the claimed jobs of a pass into the books (jobs/sql/claiming/claim/write_down.sql)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heappush
from math import inf
from operator import itemgetter

from jobs.allocation import order
from jobs.allocation.books import Books
from jobs.allocation.line import LineByPlace
from jobs.allocation.state import CLOSED, EMPTY, FULL, READY, Lane, LaneState, Pool, Queue, Tenant
from jobs.allocation.take import Taken
from jobs.allocation.walk import Tour, Visit


def write_down(books: Books, tours: Sequence[Tour], taken: Sequence[Taken], now: float) -> bool:
    """Write a pass into the books; return whether another pass may find room for a further job."""
    of_tenant: defaultdict[Tenant, int] = defaultdict(int)
    last: dict[Lane, int] = {}
    ms = order.in_ms(now)
    for claimed in taken:
        job, lane = claimed.job, claimed.visit.lane
        lane.line.remove(job)
        last[lane] = job.place
        claimed.visit.n += 1
        of_tenant[lane.tenant] += 1
        job.ticket, job.followed = ms, 0
        books.hold(lane, job)
    again = _move_lanes(books, tours, of_tenant, last, now)
    more = any(tour.queue.pool.free and (not tour.whole or tour.queue in again) for tour in tours)
    _move_turns(tours, now)
    for tenant in {visit.lane.tenant for tour in tours for visit in tour.visits if not visit.lane.tenant.paused}:
        if (n := of_tenant.get(tenant, 0)) or tenant.changed:
            tenant.spend(n, now)
        if n:
            tenant.counted = tenant.limits_users
    return more


def _move_lanes(
    books: Books, tours: Iterable[Tour], of_tenant: Mapping[Tenant, int], last: dict[Lane, int], now: float
) -> set[Queue]:
    """Move the visited lanes; return the queues in which another pass may find a job that may start.

    A visited lane goes to the end of the circle or leaves it. A lane that could have been served, but was not, is
    visited first the next time.
    """
    again: set[Queue] = set()
    visits = [(visit.n > 0, visit.lane.position, visit, tour) for tour in tours for visit in tour.visits]
    visits.sort(key=itemgetter(0, 1))
    for _, _, visit, tour in visits:
        lane = visit.lane
        taken = of_tenant.get(lane.tenant, 0)
        lane.position = tour.end = books.place()
        lane.state = state = _state(visit, taken)
        if (ended := visit.virtual_time - visit.seconds / visit.weight) > lane.virtual_time:
            lane.virtual_time = ended
        lane.last_user = "" if visit.front is None else visit.front.last_user
        if lane.opens_at is not None:
            books.opens(lane, None)
        if visit.wanted and isinstance(lane.line, LineByPlace):
            lane.head = _head(lane.line, last.get(lane), lane.head)
        if state is READY:
            heappush(lane.queue.circle, (lane.position, lane))
            if _again(visit, tour.room):
                again.add(lane.queue)
        elif state is CLOSED and not lane.tenant.paused:
            if visit.free <= taken and lane.tenant.may_borrow:
                again.add(lane.queue)
                books.opens(lane, inf)
            opens_at = lane.tenant.next_at(lane.tenant.after(taken, now))
            if opens_at is not None and opens_at > now:
                books.opens(lane, opens_at)
    return again


def _state(visit: Visit, of_tenant: int) -> LaneState:
    if visit.passed_over:
        return READY
    if visit.lane_left <= visit.n:
        return FULL
    if visit.free <= of_tenant:
        return CLOSED
    if visit.front is not None:
        return READY if visit.front.jobs or not visit.front.all_users else CLOSED
    return READY if visit.lane.line else EMPTY


def _again(visit: Visit, room: int) -> bool:
    """Return whether another pass may find a job of this ready lane that may start."""
    if visit.passed_over or visit.front is None:
        return not visit.passed_over
    return not visit.front.all_users or visit.n < visit.startable or visit.n == room


def _head(line: LineByPlace, last: int | None, head: int) -> int:
    """Return the new head of a lane.

    last: the last place from which a job was taken; None: none was
    head: the head before
    """
    if line.heap:
        return line.heap[0][0]
    return head if last is None else last + 1


def _move_turns(tours: Sequence[Tour], now: float) -> None:
    present: dict[Pool, float] = {}  # the least time of the queues that contend, by pool
    for tour in tours:
        if tour.contends:
            pool = tour.queue.pool
            present[pool] = min(present.get(pool, inf), tour.present)
    for tour in tours:
        if tour.visited:
            _move_turn(tour, present.get(tour.queue.pool, -inf), now)


def _move_turn(tour: Tour, pool_least: float, now: float) -> None:
    queue, pool = tour.queue, tour.queue.pool
    if tour.contends:
        queue.virtual_time = max(queue.virtual_time, tour.present - tour.seconds / queue.weight)
    queue.spend(sum(visit.n for visit in tour.visits), now)
    _move_round(queue, tour)
    queue.timed_at, queue.head = now, tour.position
    queue.ready = bool(queue.circle) or not tour.whole
    queue.pool_time = max(queue.pool_time, pool_least)
    pool.time = max(pool.time, queue.pool_time)


def _move_round(queue: Queue, tour: Tour) -> None:
    """Move the common time of the lanes when a round is complete. The next round ends with the last lane placed now.

    A round visits every lane once. Otherwise the common time would follow the lanes that are visited first.
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


def _lesser(first: float | None, second: float | None) -> float | None:
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)
