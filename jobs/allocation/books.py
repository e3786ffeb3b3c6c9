"""All books, which only a dispatch writes, and the arrivals and releases, which any other code writes."""

from heapq import heappush
from itertools import count
from math import inf
from typing import Any

from jobs.allocation import order
from jobs.allocation.line import BookedJob, LineByPlace, LineByUser
from jobs.allocation.state import READY, Freed, Lane, LineHold, Pool, Queue, Tenant


class Books:
    """The books of a deployment. Each tenant has its lanes.

    number: the last number that was given for a position in a circle

    What the next dispatch reads:

    arrivals: the lanes in which jobs have arrived
    freed: the slots that jobs gave back
    changed: the tenants whose closed lanes may open, by id; True if their limits have changed
    limited: the queues whose limits have changed
    resized: the queues of which a tenant may hold another number of slots
    lines_held: the lanes and queues that jobs hold since then

    Lanes that wait:

    opening: a heap of the lanes that wait for a token, with the moment
    resting: the lanes whose tenants may borrow; a pass that lends opens them
    holding: a heap of the holds of lanes and queues, with the moment of their end
    """

    def __init__(self, number: int = 0) -> None:
        self.pools: dict[str, Pool] = {}
        self.queues: dict[int, Queue] = {}
        self.tenants: dict[int, Tenant] = {}
        self.arrivals: list[Lane] = []
        self.freed: list[Freed] = []
        self.changed: dict[int, bool] = {}
        self.limited: list[Queue] = []
        self.resized: list[Queue] = []
        self.lines_held: list[Lane | Queue] = []
        self.opening: list[tuple[float, int, Lane]] = []
        self.resting: dict[Lane, None] = {}
        self.holding: list[tuple[float, int, LineHold, Lane | Queue]] = []
        self._numbers = count(number + 1)
        self._ties = count()

    def place(self, head: int | None = None) -> int:
        """Return a new position in a circle: at its end or, with a head, next after it."""
        return order.circle_place(next(self._numbers), head)

    def pool(self, name: str, processes: int | None = None, *, light: bool | None = None) -> Pool:
        """Return the pool of this name; from now on it has so many processes, and is light or not, if that is given."""
        pool = self.pools.setdefault(name, Pool(name))
        if processes is not None:
            pool.processes = processes
        if light is not None:
            pool.light = light
        return pool

    def add_queue(self, queue: Queue) -> Queue:
        self.queues[queue.id] = queue
        self._join(queue, queue.pool)
        return queue

    def add_tenant(self, tenant: Tenant) -> Tenant:
        self.tenants[tenant.id] = tenant
        return tenant

    def add_lane(self, lane: Lane) -> Lane:
        """Add a lane, new or with the state that it has, and return it."""
        lane.tenant.lanes[lane.queue.id] = lane
        if lane.tenant.limits_users:
            lane.line = LineByUser()
        if lane.state is READY and lane.position is not None:
            heappush(lane.queue.circle, (lane.position, lane))
            lane.queue.ready = True
        self.opens(lane, lane.opens_at)
        return lane

    def lane(self, tenant: int, queue: int) -> Lane:
        """Return the lane of a tenant in a queue, new if it has none. Raises KeyError if one of the two is unknown."""
        owner = self.tenants[tenant]
        return owner.lanes.get(queue) or self.add_lane(Lane(owner, self.queues[queue]))

    def opens(self, lane: Lane, moment: float | None) -> None:
        """Note the moment at which the lane gets a token and opens; infinity if it rests, None if it does not wait."""
        lane.opens_at = moment
        self.resting.pop(lane, None)
        if moment == inf:
            self.resting[lane] = None
        elif moment is not None:
            heappush(self.opening, (moment, next(self._ties), lane))

    def hold_line(self, line: Lane | Queue, hold: LineHold) -> LineHold:
        """Note that a job holds its lane or its queue. The next dispatch closes it."""
        line.holds.append(hold)
        self.lines_held.append(line)
        heappush(self.holding, (hold.until, next(self._ties), hold, line))
        return hold

    def hold(self, lane: Lane, job: BookedJob) -> None:
        """Count the slot that the job holds since its ticket."""
        for book in (lane, lane.queue):
            book.in_use += 1
            book.tickets += job.ticket
        lane.queue.pool.in_use += 1
        tenant = lane.tenant
        tenant.in_use += 1
        tenant.uses(job.user, 1)

    def arrive(self, lane: Lane, job: BookedJob) -> None:
        """Note that a job is ready. The next dispatch puts it in line."""
        if lane.news is None:
            self.arrivals.append(lane)
            lane.news = job.place
        lane.news = min(lane.news, job.place)
        lane.arrived.append(job)

    def free(self, lane: Lane, job: BookedJob, seconds: float, at_most: float = inf, *, lost: bool = False) -> None:
        """Note that an attempt has ended, and gives its slot back.

        seconds: since the start of the first job in its slot
        at_most: the most seconds that are charged
        lost: whether the attempt ended its process
        """
        self.freed.append(Freed(lane, job.ticket, job.user, job.followed, seconds, at_most, lost))

    def limit_tenant(self, tenant: Tenant, **limits: Any) -> None:
        """Change the limits of a tenant, by the names of its fields."""
        by_user = tenant.limits_users
        for name, value in limits.items():
            setattr(tenant, name, value)
        if by_user != tenant.limits_users:
            for lane in tenant.lanes.values():
                jobs = list(lane.line)
                lane.line = LineByPlace() if by_user else LineByUser()
                for job in jobs:
                    lane.line.add(job)
        self.changed[tenant.id] = True

    def limit_queue(self, queue: Queue, *, pool: str | None = None, **limits: Any) -> None:
        """Change the limits of a queue, or its pool."""
        before_now = queue.name, queue.tenant_slots
        for name, value in limits.items():
            setattr(queue, name, value)
        self.limited.append(queue)
        if (queue.name, queue.tenant_slots) != before_now:
            self.resized.append(queue)
        if pool is not None and pool != queue.pool.name:
            before = queue.pool
            before.queues.remove(queue)
            before.in_use -= queue.in_use
            before.time = max((other.pool_time for other in before.queues), default=0.0)
            self._join(queue, self.pool(pool))

    def recount(self) -> None:
        """Count the users of each tenant that limits them, where they are not counted yet.

        The database has a book of a tenant from the first fold on that meets a lane of it.
        """
        for tenant in self.tenants.values():
            has_book = any(lane.position is not None for lane in tenant.lanes.values())
            if has_book and tenant.limits_users and not tenant.counted:
                tenant.counted = True
                self.changed.setdefault(tenant.id, False)

    def _join(self, queue: Queue, pool: Pool) -> None:
        queue.pool = pool
        pool.queues.append(queue)
        pool.in_use += queue.in_use
        pool.time = max(pool.time, queue.pool_time)
