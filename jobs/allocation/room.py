"""The room that the limits of queues and tenants leave for more jobs.

None as a limit means that there is none: it leaves infinite room.
"""

from math import inf
from typing import Protocol


class Limited(Protocol):
    """The part of a queue that its own limits need."""

    @property
    def paused(self) -> bool: ...
    @property
    def held(self) -> bool: ...
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


def room_of(queue: Limited, tokens: float | None) -> float:
    """Return how many more jobs the queue's own limits allow, if it is neither paused nor held.

    tokens: the tokens of its rate limit; None: it has none
    """
    return min(left(queue.concurrency, queue.in_use), of_tokens(tokens))
