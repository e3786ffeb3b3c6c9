"""What a forecast begins with: the books, the jobs in line and in slots, and who came lately.

All moments are seconds from the moment of the look.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from jobs.allocation.books import Books
from jobs.allocation.state import Lane, LaneId, Queue, State, Tenant

Row = Mapping[str, Any]  # what a class of jobs.allocation.state is made of
RESTS = 1e9  # seconds: a lane that opens after them rests until a pass lends
STEP = 20  # bits of a position to the right of a number; between two numbers there is room for more: circle_place


@dataclass(frozen=True)
class InLine:
    """A job in line. place: its order (job_place). nth: its number in the line, from 1."""

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
    """A job that holds a slot. started_at: None if no process has started it. leaves: its worker takes no more jobs."""

    tenant_id: int
    queue_id: int
    place: int
    user: str
    job_type: str
    claimed_at: float
    started_at: float | None
    leaves: bool


@dataclass(frozen=True)
class Comer:
    """A job that becomes ready: at a moment of the window of arrivals, or to come. place: None if not known yet."""

    at: float
    tenant_id: int
    queue_id: int
    priority: int
    user: str
    job_type: str
    place: int | None = None


@dataclass(frozen=True)
class Scene:
    """pools: the processes of each. queues: each with the name of its pool. waiting: about how many jobs a lane has in
    line; lanes: those of them that a dispatch knows. window: the seconds in which `arrived` came; their `at` counts
    from its beginning.
    """

    pools: Mapping[str, int]
    queues: Sequence[Row] = ()
    tenants: Sequence[Row] = ()
    lanes: Mapping[LaneId, Row] = field(default_factory=dict)
    waiting: Mapping[LaneId, int] = field(default_factory=dict)
    in_line: Sequence[InLine] = ()
    holding: Sequence[Holding] = ()
    due: Sequence[Comer] = ()
    arrived: Sequence[Comer] = ()
    window: float = 300.0

    def books(self) -> Books:
        """New books, without the jobs: those in slots and in line come later."""
        positions = [lane["position"] or 0 for lane in self.lanes.values()]
        positions += [queue[name] for queue in self.queues for name in ("head", "circle_end")]
        books = Books(max(((one >> STEP) + one % (1 << STEP) for one in positions), default=0))
        for name, processes in self.pools.items():
            books.pool(name, processes)
        for queue in self.queues:
            books.add_queue(Queue(timed_at=0.0, **{**queue, "pool": books.pool(queue["pool"])}))
        for tenant in self.tenants:
            books.add_tenant(Tenant(**tenant))
        for (tenant_id, queue_id), known in self.lanes.items():
            row = {**known, "state": State(known["state"])}
            lane = Lane(books.tenants[tenant_id], books.queues[queue_id], **row)
            if lane.opens_at is not None and lane.opens_at > RESTS:
                lane.opens_at = inf
            books.add_lane(lane)
        return books
