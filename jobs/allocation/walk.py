"""Find the room of each open queue, and walk round its circle (jobs/sql/claiming/claim/room.sql, walk.sql)."""

from dataclasses import dataclass, field
from heapq import heappop
from operator import attrgetter

from jobs.allocation import order
from jobs.allocation.books import Books
from jobs.allocation.line import BookedJob, Front, LineByPlace
from jobs.allocation.room import left
from jobs.allocation.state import Lane, Pool, Queue


@dataclass(slots=True, eq=False)
class Visit:
    """A visit of a pass to a lane.

    weight: the weight of its tenant
    free: its tenant's free slots, with those that it may borrow in a pass that lends, cut to its tokens
    own_slots: its tenant's free slots, without those that it may borrow
    lane_left: the slots that the lane may still take of its tenant's, in its queue
    wanted: the most jobs that the lane may start
    startable: the number of its jobs that may start, at most `wanted`
    front: the jobs that may start, if users take turns
    seconds: the time for which its jobs have held their slots
    virtual_time: the time of the lane, with `seconds`
    in_time: whether it is served before the round is complete
    passed_over: whether its tenant's users must be counted first
    n: the jobs that it got in this pass
    """

    lane: Lane
    weight: int
    free: float
    own_slots: float
    lane_left: float
    wanted: int
    startable: int
    front: Front | None
    seconds: float
    virtual_time: float
    in_time: bool
    passed_over: bool
    n: int = 0

    def first(self, jobs: int) -> list[BookedJob]:
        """Return the first jobs that the lane may start.

        jobs: the most of them
        """
        if isinstance(self.lane.line, LineByPlace):
            return self.lane.line.first(jobs)
        return self.front.jobs[:jobs] if self.front is not None else []


@dataclass(slots=True, eq=False)
class Tour:
    """The walk of a pass round the circle of an open queue.

    room: the most jobs that the queue may start
    seconds: the time for which its jobs have held their slots
    present: its time in its pool now, with `seconds`
    lane_time: the common time of its lanes now
    round_least: the least time met in the round, as of now
    visited: whether the pass came to the queue
    whole: whether it visited the whole circle
    cut: whether it ended at LANES_OF_A_PASS
    served: the number of visited lanes that can be served
    least: the least time of the visited lanes with jobs that may start
    least_growth: the least growth of the time of these lanes
    position: the position of the last visited lane
    end: the last position that was given to a visited lane
    """

    queue: Queue
    room: int
    seconds: float
    present: float
    lane_time: float
    round_least: float | None
    visited: bool = field(default=False, init=False)
    visits: list[Visit] = field(default_factory=list, init=False)
    whole: bool = field(default=False, init=False)
    cut: bool = field(default=False, init=False)
    served: int = field(default=0, init=False)
    least: float | None = field(default=None, init=False)
    least_growth: float | None = field(default=None, init=False)
    position: int = field(init=False)
    end: int = field(init=False)

    def __post_init__(self) -> None:
        self.position, self.end = self.queue.head, self.queue.circle_end

    @property
    def contends(self) -> bool:
        """Return whether the queue competes for processes; a queue that the pass did not come to counts as such."""
        return not self.visited or (self.least is not None and (self.whole or self.served > 0))

    @property
    def key(self) -> tuple[float, int, int]:
        """The key of the queue's first job in the order of its pool."""
        queue = self.queue
        return order.turn(self.present, queue.in_use, queue.weight), -queue.weight, queue.id


def tours(books: Books, now: float, *, borrow: bool, batch: int) -> list[Tour]:
    """Return the tours of the first open queues of each pool, in their order; the walk need not come to all of them.

    batch: the most jobs of a queue
    """
    ms = order.in_ms(now)
    return [
        tour for pool in books.pools.values() if pool.free for tour in _tours(pool, now, ms, borrow=borrow, batch=batch)
    ]


def is_open(queue: Queue, now: float) -> bool:
    """Return whether the queue's limits and its pool let it start a job; whether it has a ready job does not count."""
    return _room(queue, now, batch=1) >= 1


def _tours(pool: Pool, now: float, ms: int, *, borrow: bool, batch: int) -> list[Tour]:
    """Walk through the queues of a pool until as many lanes can be served as it has free processes.

    The walk comes to at least as many queues, if so many are ready.
    """
    ready = [
        _tour(queue, int(room), now, ms)
        for queue in pool.queues
        if queue.ready and (room := _room(queue, now, batch)) >= 1
    ]
    ready.sort(key=attrgetter("key"))
    most_queues = len(ready) if borrow else pool.free + order.QUEUES_BEYOND_ROOM
    served = 0
    for place, tour in enumerate(ready if borrow else ready[: most_queues - 1]):
        if min(place, served) >= pool.free:
            break
        _walk(tour, min(tour.room, pool.free - min(place, served)), now, ms, borrow=borrow)
        served += tour.served
    return ready[:most_queues]


def _room(queue: Queue, now: float, batch: int) -> float:
    if queue.paused or queue.held:
        return 0
    return min(queue.pool.free, left(queue.concurrency, queue.in_use), queue.tokens(now), batch)


def _tour(queue: Queue, room: int, now: float, ms: int) -> Tour:
    passed = 0.0 if queue.timed_at is None else now - queue.timed_at
    seconds = order.worked_since(queue.in_use, queue.tickets, ms)
    return Tour(
        queue,
        room,
        seconds,
        order.at_least(queue.virtual_time + seconds / queue.weight, queue.pool.time, queue.weight),
        queue.lane_time + queue.growth * passed,
        None if queue.round_least is None else queue.round_least + (queue.round_growth or 0.0) * passed,
    )


def _walk(tour: Tour, wanted: int, now: float, ms: int, *, borrow: bool) -> None:
    """Visit the lanes of a queue until `wanted` can be served, the circle ends, or the bound of a pass is reached."""
    circle, quantum = tour.queue.circle, order.quantum(tour.queue.mean_seconds)
    tour.visited = True
    while circle and tour.served < wanted and not tour.cut:
        tour.position, lane = heappop(circle)
        visit = _visit(lane, tour, quantum, now, ms, borrow=borrow)
        tour.visits.append(visit)
        tour.cut = len(tour.visits) == order.LANES_OF_A_PASS
        if visit.startable:
            tour.served += visit.in_time and visit.own_slots > 0
            growth = lane.in_use / visit.weight
            if tour.least is None or visit.virtual_time < tour.least:
                tour.least = visit.virtual_time
            if tour.least_growth is None or growth < tour.least_growth:
                tour.least_growth = growth
    tour.whole = tour.served < wanted and not tour.cut


def _visit(lane: Lane, tour: Tour, quantum: float, now: float, ms: int, *, borrow: bool) -> Visit:
    tenant = lane.tenant
    by_user = tenant.limits_users and not tenant.paused
    passed_over = by_user and not tenant.counted and tenant.in_use > 0
    weight = 1 if tenant.paused else tenant.weight
    own_slots = left(tenant.slots(borrow=False), tenant.in_use)
    free = left(tenant.slots(borrow=True), tenant.in_use) if borrow else own_slots
    if tenant.rate_limit is not None:
        free = min(free, tenant.tokens(now))
    lane_left = left(tour.queue.tenant_slots if tenant.paused else lane.slots, lane.in_use)
    wanted = 0 if passed_over else int(min(free, lane_left, tour.room))
    if isinstance(lane.line, LineByPlace):
        front, startable = None, min(len(lane.line), wanted)
    else:
        front = lane.line.front(wanted, tenant, lane.last_user)
        startable = len(front.jobs)
    seconds = order.worked_since(lane.in_use, lane.tickets, ms)
    time = order.at_least(lane.virtual_time + seconds / weight, tour.lane_time, weight)
    in_time = order.in_time(time, tour.lane_time, quantum, weight)
    return Visit(
        lane, weight, free, own_slots, lane_left, wanted, startable, front, seconds, time, in_time, passed_over
    )
