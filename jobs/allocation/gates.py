"""The gates that hold a waiting job now: the limits of its queue, pool, tenant and user that leave no room."""

from collections.abc import Iterator
from enum import StrEnum

from jobs.allocation.room import Limited, left, of_tokens
from jobs.allocation.state import Lane


class Gate(StrEnum):
    """The reasons why a job waits. The values are stable: programs may compare them."""

    ENDED = "ended"  # final: no process moves it on
    RUNNING = "running"
    QUEUED = "queued"  # handed over; no worker has started it yet
    BLOCKED = "blocked"  # other jobs have to end first
    SEQUENCE = "sequence"  # it is not its turn in its sequence, or a failed job stops that
    EVENT = "event"  # the event that it waits for has not come
    SCHEDULED = "scheduled"  # due later: a delay, or the backoff of a retry
    HELD = "held"  # its job type is paused
    BUDGET = "budget"  # a budget of its tenant is used up, which its job type spends
    TENANT_PAUSED = "tenant_paused"
    NO_SLOTS = "no_slots"  # the tenant has 0 slots, or its slots were never set
    SLOTS_FULL = "slots_full"
    LANE_HELD = "lane_held"  # by a job of its tenant in its queue, until a moment
    LANE_FULL = "lane_full"  # its tenant's slots in this queue
    QUEUE_PAUSED = "queue_paused"
    QUEUE_HELD = "queue_held"  # by one of its jobs, until a moment
    QUEUE_FULL = "queue_full"
    QUEUE_RATE = "queue_rate"
    TENANT_RATE = "tenant_rate"
    USER_FULL = "user_full"
    NO_WORKER = "no_worker"
    POOL_FULL = "pool_full"
    NEXT = "next"  # all gates are open: the next dispatch that reaches its place claims it


def closed(lane: Lane, user: str = "", now: float = 0.0) -> Iterator[Gate]:
    """Yield the closed gates of a waiting job. The tenant's come first, since its owner can change them."""
    tenant, queue = lane.tenant, lane.queue
    if tenant.paused:
        yield Gate.TENANT_PAUSED
    if not tenant.num_slots:
        yield Gate.NO_SLOTS
    if lane.holds:
        yield Gate.LANE_HELD
    if tenant.num_slots and not left(tenant.num_slots, tenant.in_use):
        yield Gate.SLOTS_FULL
    if not left(lane.slots, lane.in_use):
        yield Gate.LANE_FULL
    yield from of_queue(queue, queue.tokens(now))
    if not of_tokens(tenant.tokens(now)):
        yield Gate.TENANT_RATE
    if not tenant.room_of_user(user):
        yield Gate.USER_FULL
    yield from of_pool(queue.pool.processes, queue.pool.in_use)


def of_pool(processes: int, in_use: int) -> Iterator[Gate]:
    """Yield the closed gate of a pool, if it has one."""
    if not processes:
        yield Gate.NO_WORKER
    elif not left(processes, in_use):
        yield Gate.POOL_FULL


def of_queue(queue: Limited, tokens: float | None) -> Iterator[Gate]:
    """Yield the closed gates of a queue.

    tokens: the tokens of its rate limit; None: it has none
    """
    if queue.paused:
        yield Gate.QUEUE_PAUSED
    if queue.held:
        yield Gate.QUEUE_HELD
    if not left(queue.concurrency, queue.in_use):
        yield Gate.QUEUE_FULL
    if not of_tokens(tokens):
        yield Gate.QUEUE_RATE
