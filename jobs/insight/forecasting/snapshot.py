"""The snapshot that a forecast begins with: the books, the jobs in line and in slots, and the latest arrivals.

All moments are seconds from the moment of the look.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from jobs.allocation.books import Books
from jobs.allocation.state import Lane, LaneId, LaneState, LineHold, Queue, Tenant

Row = Mapping[str, Any]  # the fields of a class of jobs.allocation.state
NEVER_OPENS = 1e9  # seconds: a lane that opens later opens only when a dispatch lends its tenant a slot
BITS_BETWEEN = 20  # of a position, to the right of its number: for lanes placed between two numbers (circle_place)


@dataclass(frozen=True)
class InLine:
    """A job in line.

    place: its order (job_place)
    nth: its number in the line, from 1
    """

    id: int
    tenant_id: int
    queue_id: int
    place: int
    nth: int
    user: str
    job_type: str
    ready_at: float


@dataclass(frozen=True)
class Holding:
    """A job that holds a slot.

    started_at: None if no process has started it
    leaves: whether its worker takes no more jobs
    """

    tenant_id: int
    queue_id: int
    place: int
    user: str
    job_type: str
    claimed_at: float
    started_at: float | None
    leaves: bool


@dataclass(frozen=True)
class ComingJob:
    """A job that became ready in the window of arrivals, or that will become ready.

    at: the moment; for a past arrival it counts from the beginning of the window
    place: its order (job_place); None if not known yet
    """

    at: float
    tenant_id: int
    queue_id: int
    priority: int
    user: str
    job_type: str
    place: int | None = None


@dataclass(frozen=True)
class Snapshot:
    """The state of the scheduler at the moment of the look.

    pools: the number of processes, by the name of the pool
    light: the names of the light pools; their numbers are those of seats
    queues: each with the name of its pool
    lanes: the lanes in `waiting` that a dispatch knows
    waiting: about how many jobs each lane has in line
    in_line: the jobs in line that were read
    holding: the jobs that hold a slot
    due: jobs that become ready later
    arrived: the jobs that became ready in the window
    holds: until when jobs hold these lanes; those of tenant 0 are whole queues
    window: the seconds in which `arrived` came; their `at` counts from its beginning
    """

    pools: Mapping[str, int]
    light: Collection[str] = ()
    queues: Sequence[Row] = ()
    tenants: Sequence[Row] = ()
    lanes: Mapping[LaneId, Row] = field(default_factory=dict)
    waiting: Mapping[LaneId, int] = field(default_factory=dict)
    in_line: Sequence[InLine] = ()
    holding: Sequence[Holding] = ()
    due: Sequence[ComingJob] = ()
    arrived: Sequence[ComingJob] = ()
    holds: Mapping[LaneId, float] = field(default_factory=dict)
    window: float = 300.0

    def books(self) -> Books:
        """Return new books without jobs; the caller adds those in slots and in line."""
        positions = [lane["position"] or 0 for lane in self.lanes.values()]
        positions += [queue[name] for queue in self.queues for name in ("head", "circle_end")]
        books = Books(max(map(_number_after, positions), default=0))
        for name, processes in self.pools.items():
            books.pool(name, processes, light=name in self.light)
        for queue in self.queues:
            books.add_queue(Queue(timed_at=0.0, **{**queue, "pool": books.pool(queue["pool"])}))
        for tenant in self.tenants:
            books.add_tenant(Tenant(**tenant))
        for (tenant_id, queue_id), known in self.lanes.items():
            row = {**known, "state": LaneState(known["state"])}
            lane = Lane(books.tenants[tenant_id], books.queues[queue_id], **row)
            if lane.opens_at is not None and lane.opens_at > NEVER_OPENS:
                lane.opens_at = inf
            books.add_lane(lane)
        for (tenant_id, queue_id), until in self.holds.items():
            if queue_id in books.queues and not tenant_id:
                books.queues[queue_id].held = True
                books.hold_line(books.queues[queue_id], LineHold(until))
            elif queue_id in books.queues and tenant_id in books.tenants:
                books.hold_line(books.lane(tenant_id, queue_id), LineHold(until))
        return books

    def held_until(self, lane: LaneId) -> float:
        """Return the moment until which jobs hold a lane, or its queue; 0 if none does."""
        _, queue_id = lane
        return max(self.holds.get(lane, 0.0), self.holds.get((0, queue_id), 0.0))


def _number_after(position: int) -> int:
    """Return a number whose position in the circle is not before this one."""
    return (position >> BITS_BETWEEN) + position % (1 << BITS_BETWEEN)
