"""What a forecast begins with: the books, the jobs in line and in slots, and who came lately.

All moments are seconds from the moment of the look.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Turn:
    """A queue: its limits, and its turn as `queue_turns` has it. See jobs.models.QueueTurn."""

    id: int
    pool: str
    weight: int
    concurrency: int | None
    paused: bool
    rate_limit: int | None
    rate_window: float | None
    full_at: float | None
    tokens: float | None
    virtual_time: float
    pool_time: float
    lane_time: float
    growth: float
    head: int
    circle_end: int
    round_least: float | None
    round_growth: float | None
    mean_seconds: float


@dataclass(frozen=True)
class Owner:
    """A tenant. num_slots: None if they were never set. burst_slots: with those that it may borrow."""

    id: int
    num_slots: int | None
    weight: int
    paused: bool
    user_slots: int | None
    rate_limit: int | None
    rate_window: float | None
    full_at: float | None
    tokens: float | None
    burst_slots: int | None = None


@dataclass(frozen=True)
class Line:
    """The jobs in line of a tenant in a queue. waiting: about how many; state None: no dispatch knows of them yet."""

    tenant_id: int
    queue_id: int
    waiting: int
    state: str | None
    position: int | None
    virtual_time: float | None
    head: int | None
    last_user: str | None
    opens_at: float | None


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
    """window: the seconds in which `arrived` came; their `at` counts from its beginning."""

    pools: Mapping[str, int]
    turns: Sequence[Turn] = ()
    owners: Sequence[Owner] = ()
    lines: Sequence[Line] = ()
    in_line: Sequence[InLine] = ()
    holding: Sequence[Holding] = ()
    due: Sequence[Comer] = ()
    arrived: Sequence[Comer] = ()
    window: float = 300.0


def pause(limited: Turn | Owner) -> float:
    """Seconds between two starts, by the rate limit; 0 without one."""
    return limited.rate_window / limited.rate_limit if limited.rate_limit and limited.rate_window else 0.0
