"""The books of a scene."""

from math import inf

from jobs.allocation.books import Books
from jobs.allocation.state import Lane, Queue, State, Tenant
from jobs.forecasting.scene import Scene

RESTS = 1e9  # seconds: a lane that opens after them rests until a pass lends
STEP = 20  # bits of a position to the right of a number; between two numbers there is room for more: circle_place


def books_of(scene: Scene) -> Books:
    """New books, without the jobs: those in slots and in line come later."""
    positions = [line.position or 0 for line in scene.lines] + [turn.head for turn in scene.turns]
    positions += [turn.circle_end for turn in scene.turns]
    books = Books(max(((one >> STEP) + one % (1 << STEP) for one in positions), default=0))
    for name, processes in scene.pools.items():
        books.pool(name, processes)
    for turn in scene.turns:
        books.add_queue(
            Queue(
                id=turn.id,
                pool=books.pool(turn.pool),
                weight=turn.weight,
                paused=turn.paused,
                concurrency=turn.concurrency,
                rate_limit=turn.rate_limit,
                rate_window=turn.rate_window,
                full_at=turn.full_at,
                virtual_time=turn.virtual_time,
                pool_time=turn.pool_time,
                lane_time=turn.lane_time,
                growth=turn.growth,
                timed_at=0.0,
                round_least=turn.round_least,
                round_growth=turn.round_growth,
                head=turn.head,
                circle_end=turn.circle_end,
                mean_seconds=turn.mean_seconds,
            )
        )
    for owner in scene.owners:
        books.add_tenant(
            Tenant(
                id=owner.id,
                num_slots=owner.num_slots,
                burst_slots=owner.burst_slots,
                weight=owner.weight,
                paused=owner.paused,
                user_slots=owner.user_slots,
                rate_limit=owner.rate_limit,
                rate_window=owner.rate_window,
                full_at=owner.full_at,
            )
        )
    for line in scene.lines:
        if line.state is not None and line.queue_id in books.queues:
            lane = Lane(books.tenants[line.tenant_id], books.queues[line.queue_id], line.position, State(line.state))
            lane.virtual_time = line.virtual_time or 0.0
            lane.head = line.head or 0
            lane.last_user = line.last_user or ""
            lane.opens_at = inf if (line.opens_at or 0.0) > RESTS else line.opens_at
            books.add_lane(lane)
    return books
