"""The state of a claim in memory: a book for each lane, queue, pool and tenant, of its limits, its use and its times.

As the tables of jobs/models/dispatch.py, with the same names. Moments are seconds since any origin.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from math import floor, inf

from jobs.allocation.line import Job, Line, LineByUser

FORGIVEN = 0.0000005  # seconds; moments are rounded to whole microseconds


class State(StrEnum):
    """Of a lane: in the circle; without jobs; its tenant can start none now."""

    READY = "ready"
    EMPTY = "empty"
    CLOSED = "closed"


LaneId = tuple[int, int]  # tenant, queue
READY, EMPTY, CLOSED = State  # bound once: a look into an Enum takes longer than the comparison


@dataclass(slots=True, eq=False, kw_only=True)
class Limits:
    """What tenants and queues have.

    A rate limit is a bucket of tokens, which refill evenly over the window. full_at: when it will be full; full_limit,
    full_window: the limit under which that was written, if it is another one. That is the generic cell rate algorithm,
    as the functions rate_* of the database compute it (docs/adr/0008).
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
        """Seconds between two jobs, by the rate limit; 0 without one."""
        return self.rate_window / self.rate_limit if self.rate_limit and self.rate_window else 0.0

    def tokens(self, now: float) -> float:
        """How many jobs the rate limit lets go now."""
        if self.rate_limit is None or self.rate_window is None:
            return inf
        missing = max(self._full_at(now, self.rate_limit, self.rate_window) - now - FORGIVEN, 0.0)
        return max(floor(self.rate_limit - missing * self.rate_limit / self.rate_window), 0)

    def after(self, n: int, now: float) -> float | None:
        """When the bucket will be full again after n further jobs; None without a rate limit."""
        if self.rate_limit is None or self.rate_window is None:
            return None
        full_at = self._full_at(now, self.rate_limit, self.rate_window)
        return round(full_at + n * self.rate_window / self.rate_limit, 6)

    def next_at(self, full_at: float | None) -> float | None:
        """When a bucket that will be full then has a token; None without a rate limit."""
        if full_at is None or self.rate_limit is None or self.rate_window is None:
            return None
        return round(full_at - (self.rate_limit - 1) * self.rate_window / self.rate_limit, 6)

    def spend(self, n: int, now: float) -> None:
        """Take n tokens. From now on the bucket fills up at the rate of this limit."""
        self.full_at = self.after(n, now)
        self.full_limit, self.full_window = self.rate_limit, self.rate_window

    @property
    def changed(self) -> bool:
        """Whether the bucket was written under another limit."""
        return (self.full_limit, self.full_window) != (self.rate_limit, self.rate_window)

    def _full_at(self, now: float, limit: int, window: float) -> float:
        """Now, or later. Under another limit as many tokens are missing, but not more than it can hold.

        A bucket that would be full only after two windows was written before the clock was set back: now.
        """
        old_limit, old_window = self.full_limit or limit, self.full_window or window
        if self.full_at is None or not 0 < self.full_at - now < 2 * old_window:
            return now
        if (old_limit, old_window) == (limit, window):
            return min(self.full_at, now + window)
        missing = min((self.full_at - now) * old_limit / old_window, old_limit, limit)
        return now + window / limit * missing


@dataclass(slots=True, eq=False, kw_only=True)
class Tenant(Limits):
    """num_slots: None if they were never set. burst_slots: with those that it may borrow; None: none. users: the slots
    in use of each user who has any.

    counted: whether the door knows them, which does not count users that have no limit.
    """

    id: int
    num_slots: int | None = None
    burst_slots: int | None = None
    user_slots: int | None = None
    users: dict[str, int] = field(default_factory=dict)
    counted: bool = False
    lanes: dict[int, "Lane"] = field(default_factory=dict, init=False)  # by queue

    def slots(self, *, borrow: bool) -> int:
        """What it may hold. A tenant without slots of its own borrows none; nor does a paused one."""
        own = 0 if self.paused else self.num_slots or 0
        return max(own, self.burst_slots or 0) if own and borrow else own

    @property
    def may_borrow(self) -> bool:
        """Whether it may hold more than it does."""
        return self.slots(borrow=False) > 0 and (self.burst_slots or 0) > self.in_use

    def uses(self, user: str, by: int) -> None:
        """Count a slot of this user, or take it off."""
        if user:
            left = self.users.get(user, 0) + by
            if left > 0:
                self.users[user] = left
            else:
                self.users.pop(user, None)


@dataclass(slots=True, eq=False)
class Pool:
    """processes: of its live workers. in_use, time: of its queues."""

    name: str
    processes: int = 0
    in_use: int = 0
    time: float = field(default=0.0, init=False)
    queues: list["Queue"] = field(default_factory=list, init=False)

    @property
    def free(self) -> int:
        return self.processes - self.in_use if self.processes > self.in_use else 0


@dataclass(slots=True, eq=False, kw_only=True)
class Queue(Limits):
    """Its limits and its turn. Times are worker-seconds by weight.

    lane_time: the common time of its lanes at `timed_at`; growth: of it, in a second. head: the circle continues after
    this position; circle_end: the end of the round. round_least, round_growth: the least met in the round. circle: its
    ready lanes, a heap by position. ready: whether it has any, as far as the door knows.
    """

    id: int
    pool: Pool
    concurrency: int | None = None
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


@dataclass(slots=True, eq=False)
class Lane:
    """A tenant's jobs in a queue. position: in the circle, or where it left it; None: no fold has met it yet.

    virtual_time: of ended attempts. head: no job waits at a lower place, but for those who arrived since the last fold.
    last_user: the turns of the users continue after this one. opens_at: when the tenant has a token again; infinity: it
    rests, since its tenant may borrow, until a pass lends. arrived: jobs that the next fold puts in line; news: the
    first place among them.
    """

    tenant: Tenant
    queue: Queue
    position: int | None = None
    state: State = EMPTY
    virtual_time: float = 0.0
    head: int = 0
    last_user: str = ""
    opens_at: float | None = None
    in_use: int = 0
    tickets: int = 0
    line: Line | LineByUser = field(default_factory=Line, init=False)
    arrived: list[Job] = field(default_factory=list, init=False)
    news: int | None = field(default=None, init=False)


@dataclass(slots=True)
class Freed:
    """A slot given back. ticket, followed, user: of its last job. seconds: since its start. most: that are charged."""

    lane: Lane
    ticket: int
    user: str
    followed: int
    seconds: float
    most: float
    lost: bool
