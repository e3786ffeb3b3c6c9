"""The limits of queues, pools and tenants, and their use, as the gates see them. A limit of None does not exist."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Pool:
    """processes: of its live workers. in_use: by jobs that run there or are on their way."""

    name: str
    processes: int
    in_use: int = 0


@dataclass(frozen=True)
class Tenant:
    """num_slots: None if they were never set. tokens: of its rate limit. users: the slots in use of each user."""

    id: int
    num_slots: int | None
    in_use: int = 0
    paused: bool = False
    tokens: float | None = None
    user_slots: int | None = None
    users: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Queue:
    """tokens: of its rate limit."""

    id: int
    concurrency: int | None = None
    in_use: int = 0
    paused: bool = False
    tokens: float | None = None
