"""The gates between a waiting job and a worker: which limits hold it now."""

from collections.abc import Iterator
from enum import StrEnum

from jobs.allocation import room
from jobs.allocation.nouns import Pool, Queue, Tenant


class Gate(StrEnum):
    """The reasons why a job waits. The values are stable: programs may compare them."""

    ENDED = "ended"  # final: no process moves it on
    RUNNING = "running"
    QUEUED = "queued"  # handed over; no worker has started it yet
    BLOCKED = "blocked"  # other jobs have to end first
    SCHEDULED = "scheduled"  # due later: a delay, or the backoff of a retry
    HELD = "held"  # its job type is paused
    TENANT_PAUSED = "tenant_paused"
    NO_SLOTS = "no_slots"  # the tenant has 0 slots, or its slots were never set
    SLOTS_FULL = "slots_full"
    QUEUE_PAUSED = "queue_paused"
    QUEUE_FULL = "queue_full"
    QUEUE_RATE = "queue_rate"
    TENANT_RATE = "tenant_rate"
    USER_FULL = "user_full"
    NO_WORKER = "no_worker"
    POOL_FULL = "pool_full"
    NEXT = "next"  # all gates are open: the next dispatch that reaches its place claims it


def closed(tenant: Tenant, queue: Queue, pool: Pool, user: str = "") -> Iterator[Gate]:
    """The closed gates of a waiting job; the tenant's come first, since its owner can change them."""
    if tenant.paused:
        yield Gate.TENANT_PAUSED
    if not tenant.num_slots:
        yield Gate.NO_SLOTS
    elif not room.left(tenant.num_slots, tenant.in_use):
        yield Gate.SLOTS_FULL
    yield from of_queue(queue)
    if not room.of_tokens(tenant.tokens):
        yield Gate.TENANT_RATE
    if not room.of_user(user, tenant.user_slots, tenant.users):
        yield Gate.USER_FULL
    yield from of_pool(pool.processes, pool.in_use)


def of_pool(processes: int, in_use: int) -> Iterator[Gate]:
    """The closed gate of a pool."""
    if not processes:
        yield Gate.NO_WORKER
    elif not room.left(processes, in_use):
        yield Gate.POOL_FULL


def of_queue(queue: room.Limited) -> Iterator[Gate]:
    """The closed gates of a queue."""
    if queue.paused:
        yield Gate.QUEUE_PAUSED
    if not room.left(queue.concurrency, queue.in_use):
        yield Gate.QUEUE_FULL
    if not room.of_tokens(queue.tokens):
        yield Gate.QUEUE_RATE
