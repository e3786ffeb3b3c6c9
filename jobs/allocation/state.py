"""The state of a claim in memory: a book for each lane, queue, pool and tenant, with its limits, use and times.

The names are those of the tables in jobs/models/dispatch.py. Moments are seconds from any origin, the same for all.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from enum import StrEnum
from math import floor, inf

from jobs.allocation.line import BookedJob, LineByPlace, LineByUser
from jobs.allocation.room import left

FORGIVEN = 0.0000005  # seconds by which a token may be early: moments are rounded to whole microseconds


class LaneState(StrEnum):
    """The state of a lane.

    READY: it is in the circle
    EMPTY: it has no jobs
    CLOSED: its tenant may start none now
    FULL: it holds all slots that its tenant may have in its queue
    HELD: one of its jobs holds it until a moment
    """

    READY = "ready"
    EMPTY = "empty"
    CLOSED = "closed"
    FULL = "full"
    HELD = "held"


LaneId = tuple[int, int]  # tenant, queue
READY, EMPTY, CLOSED, FULL, HELD = LaneState  # bound once: reading a member of an Enum takes longer than the comparison


@dataclass(slots=True, eq=False, kw_only=True)
class LimitBook:
    """The limits that both tenants and queues have, and their slots in use.

    A rate limit is a bucket of tokens, which refill evenly over the window: the generic cell rate algorithm, as the
    functions rate_* of the database compute it (docs/adr/0008).

    rate_limit: the tokens of a full bucket
    rate_window: the seconds in which an empty bucket fills
    full_at: the moment at which the bucket will be full
    full_limit: the rate_limit under which full_at was written
    full_window: the rate_window under which full_at was written
    """

    weight: int = 1
    paused: bool = False
    rate_limit: int | None = None
    rate_window: float | None = None
    full_at: float | None = None
    full_limit: int | None = None
    full_window: float | None = None
    in_use: int = 0

    @property
    def pause(self) -> float:
        """The seconds between two jobs at the rate limit; 0 without one."""
        return self.rate_window / self.rate_limit if self.rate_limit and self.rate_window else 0.0

    def tokens(self, now: float) -> float:
        """Return how many jobs the rate limit lets start now; infinity without one."""
        if self.rate_limit is None or self.rate_window is None:
            return inf
        missing = max(self._full_at(now, self.rate_limit, self.rate_window) - now - FORGIVEN, 0.0)
        return max(floor(self.rate_limit - missing * self.rate_limit / self.rate_window), 0)

    def after(self, n: int, now: float) -> float | None:
        """Return the moment at which the bucket will be full again after n further jobs; None without a rate limit."""
        if self.rate_limit is None or self.rate_window is None:
            return None
        full_at = self._full_at(now, self.rate_limit, self.rate_window)
        return round(full_at + n * self.rate_window / self.rate_limit, 6)

    def next_at(self, full_at: float | None) -> float | None:
        """Return the moment at which a bucket that is full at `full_at` has a token; None without a rate limit."""
        if full_at is None or self.rate_limit is None or self.rate_window is None:
            return None
        return round(full_at - (self.rate_limit - 1) * self.rate_window / self.rate_limit, 6)

    def spend(self, n: int, now: float) -> None:
        """Take n tokens. From now on the bucket fills up at the rate of this limit."""
        self.full_at = self.after(n, now)
        self.full_limit, self.full_window = self.rate_limit, self.rate_window

    @property
    def changed(self) -> bool:
        """Return whether the bucket was written under another limit."""
        return (self.full_limit, self.full_window) != (self.rate_limit, self.rate_window)

    def _full_at(self, now: float, limit: int, window: float) -> float:
        """Return the moment at which the bucket will be full under this limit: now or later.

        If it was written under another limit, as many tokens are missing, but not more than either bucket holds.
        A bucket that would be full only after two windows was written before the clock was set back: it is full now.
        """
        old_limit, old_window = self.full_limit or limit, self.full_window or window
        if self.full_at is None or not 0 < self.full_at - now < 2 * old_window:
            return now
        if (old_limit, old_window) == (limit, window):
            return min(self.full_at, now + window)
        missing = min((self.full_at - now) * old_limit / old_window, old_limit, limit)
        return now + window / limit * missing


@dataclass(slots=True, eq=False, kw_only=True)
class Tenant(LimitBook):
    """A tenant, with its limits and its slots in use.

    num_slots: None if they were never set
    burst_slots: the most slots, with those that it may borrow; None: it borrows none
    user_slots: the limit for each user; None: none
    queue_slots: the most of its slots in a queue, by the name of the queue
    users: the slots in use, by user
    counted: whether the door knows `users`; it does not count the users of a tenant that does not limit them
    """

    id: int
    num_slots: int | None = None
    burst_slots: int | None = None
    user_slots: int | None = None
    queue_slots: Mapping[str, int] = field(default_factory=dict)
    users: dict[str, int] = field(default_factory=dict)
    counted: bool = False
    lanes: dict[int, "Lane"] = field(default_factory=dict, init=False)  # by queue

    def slots(self, *, borrow: bool) -> int:
        """Return how many slots the tenant may hold. One without slots of its own, or paused, borrows none."""
        num_slots = 0 if self.paused else self.num_slots or 0
        return max(num_slots, self.burst_slots or 0) if num_slots and borrow else num_slots

    @property
    def may_borrow(self) -> bool:
        """Return whether the tenant may hold more slots than now if it borrows."""
        return self.slots(borrow=False) > 0 and (self.burst_slots or 0) > self.in_use

    @property
    def limits_users(self) -> bool:
        """Return whether it limits the slots of each user."""
        return self.user_slots is not None

    @property
    def lets_users(self) -> bool:
        """Return whether its users may hold slots, if it limits them."""
        return bool(self.user_slots)

    def room_of_user(self, user: str) -> float:
        """Return how many more jobs of this user may start; a job without a user has no such limit."""
        return inf if not user else left(self.user_slots, self.users.get(user, 0))

    def slots_of_users(self, users: Set[str]) -> float:
        """Return how many slots the jobs of these users may hold; "" stands for jobs without a user."""
        return inf if self.user_slots is None or "" in users else self.user_slots * len(users)

    def uses(self, user: str, by: int) -> None:
        """Add slots in use to those of this user, or take them off.

        by: the number of slots to add; below 0 to take off
        """
        if user:
            in_use = self.users.get(user, 0) + by
            if in_use > 0:
                self.users[user] = in_use
            else:
                self.users.pop(user, None)


@dataclass(slots=True, eq=False)
class Pool:
    """A pool, with its processes and its slots in use.

    processes: those of its live workers; of a light pool, the seats in them
    in_use: the slots in use of its queues
    light: whether only passes of its feeders start its jobs
    withheld: free seats that the present pass leaves to the feeders of other workers
    time: the common time of its queues
    """

    name: str
    processes: int = 0
    in_use: int = 0
    light: bool = False
    withheld: int = field(default=0, init=False)
    time: float = field(default=0.0, init=False)
    queues: list["Queue"] = field(default_factory=list, init=False)

    @property
    def free(self) -> int:
        """Return how many more jobs the pool can start; in a pass, how many more that pass may."""
        taken = self.in_use + self.withheld
        return self.processes - taken if self.processes > taken else 0


@dataclass(slots=True, eq=False, kw_only=True)
class Queue(LimitBook):
    """A queue, with its limits and its turn. Times are worker-seconds divided by a weight.

    tenant_slots: the most slots of each tenant, unless the tenant has another number; None: no limit
    virtual_time: the time of the queue, of ended attempts
    pool_time: the time of its pool at the last change
    lane_time: the common time of its lanes at `timed_at`
    growth: how much lane_time grows in a second
    round_least: the least time of the lanes met in the round
    round_growth: the least growth of the lanes met in the round
    head: the position after which the circle continues
    circle_end: the position at which the round ends
    ready: whether it has ready lanes, as far as the door knows
    mean_seconds: the moving mean of what an attempt is charged
    tickets: the sum of the tickets of its jobs that hold a slot
    circle: its ready lanes, a heap by position
    holds: by which jobs of it hold all its lanes
    held: whether there is one, as far as the door knows
    """

    id: int
    pool: Pool
    name: str = ""
    concurrency: int | None = None
    tenant_slots: int | None = None
    virtual_time: float = 0.0
    pool_time: float = 0.0
    lane_time: float = 0.0
    growth: float = 0.0
    timed_at: float | None = None
    round_least: float | None = None
    round_growth: float | None = None
    head: int = 0
    circle_end: int = 0
    ready: bool = False
    mean_seconds: float = 0.0
    tickets: int = 0
    circle: list[tuple[int, "Lane"]] = field(default_factory=list, init=False)
    holds: list["LineHold"] = field(default_factory=list, init=False)
    held: bool = False


@dataclass(slots=True, eq=False)
class LineHold:
    """A job holds its lane, or its queue, until a moment.

    until: the moment
    in_line: whether the job would be the first then; else the hold goes on until it is in line
    """

    until: float
    in_line: bool = True


@dataclass(slots=True, eq=False)
class Lane:
    """A tenant's jobs in a queue.

    position: its position in the circle, or the one at which it left; None: no fold has met it yet
    virtual_time: its time, of ended attempts
    head: no job waits at a lower place, except those that arrived since the last fold
    last_user: the turns of the users continue after this one
    opens_at: the moment at which the tenant has a token again; infinity if it rests until a pass lends
    tickets: the sum of the tickets of its jobs that hold a slot
    arrived: the jobs that the next fold puts in line
    news: the first place among `arrived`
    holds: by which jobs of it hold it
    """

    tenant: Tenant
    queue: Queue
    position: int | None = None
    state: LaneState = EMPTY
    virtual_time: float = 0.0
    head: int = 0
    last_user: str = ""
    opens_at: float | None = None
    in_use: int = 0
    tickets: int = 0
    line: LineByPlace | LineByUser = field(default_factory=LineByPlace, init=False)
    arrived: list[BookedJob] = field(default_factory=list, init=False)
    news: int | None = field(default=None, init=False)
    holds: list[LineHold] = field(default_factory=list, init=False)

    @property
    def slots(self) -> int | None:
        """The most slots that its tenant may hold in its queue; None: no limit."""
        return self.tenant.queue_slots.get(self.queue.name, self.queue.tenant_slots)


@dataclass(slots=True)
class Freed:
    """The release of a slot.

    ticket: the ticket of its last job
    user: the user of its last job
    followed: the number of jobs that ran in it before the last one
    seconds: the time since the start of the first of them
    at_most: the most seconds that are charged
    lost: whether the attempt ended its process
    """

    lane: Lane
    ticket: int
    user: str
    followed: int
    seconds: float
    at_most: float
    lost: bool
