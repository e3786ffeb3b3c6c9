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
        same = {name: value for name, value in vars(turn).items() if name not in ("pool", "tokens")}
        books.add_queue(Queue(pool=books.pool(turn.pool), timed_at=0.0, **same))
    for owner in scene.owners:
        books.add_tenant(Tenant(**{name: value for name, value in vars(owner).items() if name != "tokens"}))
    for line in scene.lines:
        if line.state is not None and line.queue_id in books.queues:
            lane = Lane(books.tenants[line.tenant_id], books.queues[line.queue_id], line.position, State(line.state))
            lane.virtual_time = line.virtual_time or 0.0
            lane.head = line.head or 0
            lane.last_user = line.last_user or ""
            lane.opens_at = inf if (line.opens_at or 0.0) > RESTS else line.opens_at
            books.add_lane(lane)
    return books
