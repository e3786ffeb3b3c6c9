"""All books, as only a dispatch writes them; and the letters to the next dispatch, which anybody writes."""

from heapq import heappush
from itertools import count
from math import inf
from typing import Any

from jobs.allocation import order
from jobs.allocation.line import Job, Line, LineByUser
from jobs.allocation.state import READY, Freed, Lane, Pool, Queue, Tenant


class Books:
    """The lanes are those of the tenants. number: the last place that was given in a circle.

    Letters: `arrivals`, the lanes in which jobs have arrived; `freed`; `changed`, the tenants whose closed lanes may
    open, with True if their limits have changed; `limited`, the queues whose limits have. opening: a heap of the lanes
    that wait for a token. resting: those that a pass that lends opens.
    """

    def __init__(self, number: int = 0) -> None:
        self.pools: dict[str, Pool] = {}
        self.queues: dict[int, Queue] = {}
        self.tenants: dict[int, Tenant] = {}
        self.arrivals: list[Lane] = []
        self.freed: list[Freed] = []
        self.changed: dict[int, bool] = {}
        self.limited: list[Queue] = []
        self.opening: list[tuple[float, int, Lane]] = []
        self.resting: dict[Lane, None] = {}
        self._numbers = count(number + 1)
        self._ties = count()

    def place(self, head: int | None = None) -> int:
        """The next place in a circle: at its end, or after this head."""
        return order.circle_place(next(self._numbers), head)

    def pool(self, name: str, processes: int | None = None) -> Pool:
        """The pool of this name, with so many processes from now on."""
        pool = self.pools.setdefault(name, Pool(name))
        if processes is not None:
            pool.processes = processes
        return pool

    def add_queue(self, queue: Queue) -> Queue:
        self.queues[queue.id] = queue
        self._join(queue, queue.pool)
        return queue

    def add_tenant(self, tenant: Tenant) -> Tenant:
        self.tenants[tenant.id] = tenant
        return tenant

    def add_lane(self, lane: Lane) -> Lane:
        """A lane as it is, or a new one."""
        lane.tenant.lanes[lane.queue.id] = lane
        if lane.tenant.user_slots is not None:
            lane.line = LineByUser()
        if lane.state is READY and lane.position is not None:
            heappush(lane.queue.circle, (lane.position, lane))
            lane.queue.ready = True
        self.opens(lane, lane.opens_at)
        return lane

    def lane(self, tenant: int, queue: int) -> Lane:
        """Raises KeyError if there is no such tenant or queue."""
        owner = self.tenants[tenant]
        return owner.lanes.get(queue) or self.add_lane(Lane(owner, self.queues[queue]))

    def opens(self, lane: Lane, moment: float | None) -> None:
        """The lane waits for a token, until this moment; or rests."""
        lane.opens_at = moment
        self.resting.pop(lane, None)
        if moment == inf:
            self.resting[lane] = None
        elif moment is not None:
            heappush(self.opening, (moment, next(self._ties), lane))

    def hold(self, lane: Lane, job: Job) -> None:
        """The job holds a slot, since its ticket."""
        for book in (lane, lane.queue):
            book.in_use += 1
            book.tickets += job.ticket
        lane.queue.pool.in_use += 1
        tenant = lane.tenant
        tenant.in_use += 1
        tenant.uses(job.user, 1)

    def arrive(self, lane: Lane, job: Job) -> None:
        """A job is ready. It stands in line from the next dispatch on."""
        if lane.news is None:
            self.arrivals.append(lane)
            lane.news = job.place
        lane.news = min(lane.news, job.place)
        lane.arrived.append(job)

    def free(self, lane: Lane, job: Job, seconds: float, most: float = inf, *, lost: bool = False) -> None:
        """An attempt has ended. seconds: since the start of the first job in its slot. lost: it ended its process."""
        self.freed.append(Freed(lane, job.ticket, job.user, job.followed, seconds, most, lost))

    def limit_tenant(self, tenant: Tenant, **limits: Any) -> None:
        """Change the limits of a tenant, by the names of its fields."""
        by_user = tenant.user_slots is not None
        for name, value in limits.items():
            setattr(tenant, name, value)
        if by_user != (tenant.user_slots is not None):
            for lane in tenant.lanes.values():
                jobs = list(lane.line)
                lane.line = Line() if by_user else LineByUser()
                for job in jobs:
                    lane.line.add(job)
        self.changed[tenant.id] = True

    def limit_queue(self, queue: Queue, *, pool: str | None = None, **limits: Any) -> None:
        """Change the limits of a queue, or its pool."""
        for name, value in limits.items():
            setattr(queue, name, value)
        self.limited.append(queue)
        if pool is not None and pool != queue.pool.name:
            before = queue.pool
            before.queues.remove(queue)
            before.in_use -= queue.in_use
            before.time = max((other.pool_time for other in before.queues), default=0.0)
            self._join(queue, self.pool(pool))

    def recount(self) -> None:
        """Count the users of the tenants that limit them."""
        for tenant in self.tenants.values():
            if tenant.user_slots is not None and not tenant.counted:
                tenant.counted = True
                self.changed.setdefault(tenant.id, False)

    def _join(self, queue: Queue, pool: Pool) -> None:
        queue.pool = pool
        pool.queues.append(queue)
        pool.in_use += queue.in_use
        pool.time = max(pool.time, queue.pool_time)
