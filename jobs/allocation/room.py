"""How many jobs each queue, pool, tenant and user may still get. No limit leaves infinite room."""

from collections.abc import Mapping
from math import inf
from typing import Protocol


class Limited(Protocol):
    """A queue as far as its own limits go."""

    @property
    def paused(self) -> bool: ...
    @property
    def concurrency(self) -> int | None: ...
    @property
    def in_use(self) -> int: ...
    @property
    def tokens(self) -> float | None: ...


def left(limit: int | None, in_use: int) -> float:
    """What a limit leaves free, from 0."""
    return inf if limit is None else limit - in_use if limit > in_use else 0


def of_tokens(tokens: float | None) -> float:
    """The jobs that a rate limit lets go now."""
    return inf if tokens is None else max(int(tokens), 0)


def of_queue(queue: Limited) -> float:
    """By the queue's own limits, while it is not paused."""
    return min(left(queue.concurrency, queue.in_use), of_tokens(queue.tokens))


def of_user(user: str, user_slots: int | None, users: Mapping[str, int] | None) -> float:
    """By the tenant's limit for each of its users. Jobs of no user do not count."""
    return inf if not user else left(user_slots, (users or {}).get(user, 0))
