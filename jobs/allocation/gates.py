"""The limits of queues, pools, tenants and users: the room that each leaves, and the gates that hold a waiting job now.

None as a limit means that there is none: it leaves infinite room.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from math import inf
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the state has lines of jobs, which ask for this room
    from jobs.allocation.state import Queue, Tenant


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


class Limited(Protocol):
    """The part of a queue that its own limits need."""

    @property
    def paused(self) -> bool: ...
    @property
    def concurrency(self) -> int | None: ...
    @property
    def in_use(self) -> int: ...


def left(limit: int | None, in_use: int) -> float:
    """Return how many more jobs a limit allows; at least 0."""
    return inf if limit is None else limit - in_use if limit > in_use else 0


def of_tokens(tokens: float | None) -> float:
    """Return how many jobs a rate limit lets start now; None: there is no rate limit."""
    return inf if tokens is None else tokens if tokens >= 1 else 0


def room(queue: Limited, tokens: float | None) -> float:
    """Return how many more jobs the queue's own limits allow, if it is not paused.

    tokens: the tokens of its rate limit; None: it has none
    """
    return min(left(queue.concurrency, queue.in_use), of_tokens(tokens))


def of_user(user: str, user_slots: int | None, users: Mapping[str, int]) -> float:
    """Return how many more jobs of this user its tenant allows; a job without a user has no such limit.

    user_slots: the limit for each user
    users: the slots in use, by user
    """
    return inf if not user else left(user_slots, users.get(user, 0))


def closed(tenant: "Tenant", queue: "Queue", user: str = "", now: float = 0.0) -> Iterator[Gate]:
    """Yield the closed gates of a waiting job. The tenant's come first, since its owner can change them."""
    if tenant.paused:
        yield Gate.TENANT_PAUSED
    if not tenant.num_slots:
        yield Gate.NO_SLOTS
    elif not left(tenant.num_slots, tenant.in_use):
        yield Gate.SLOTS_FULL
    yield from of_queue(queue, queue.tokens(now))
    if not of_tokens(tenant.tokens(now)):
        yield Gate.TENANT_RATE
    if not of_user(user, tenant.user_slots, tenant.users):
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
    if not left(queue.concurrency, queue.in_use):
        yield Gate.QUEUE_FULL
    if not of_tokens(tokens):
        yield Gate.QUEUE_RATE
