"""The books and limits of lanes, queues, pools and tenants, at one moment. A limit of None does not exist."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Job:
    """A waiting job. place: its order in the lane, by priority and then by submission; unique. user: "" for nobody."""

    place: int
    user: str = ""


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
    weight: int = 1
    paused: bool = False
    tokens: float | None = None
    user_slots: int | None = None
    users: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Queue:
    """The limits of a queue, and its turn.

    present: its time in its pool (order.present). lane_time: the common time of its lanes, now. mean_seconds: what an
    attempt takes. head: the circle of its lanes continues after this position. All times are worker-seconds by weight.
    """

    id: int
    pool: str
    concurrency: int | None = None
    in_use: int = 0
    weight: int = 1
    paused: bool = False
    tokens: float | None = None
    present: float = 0.0
    lane_time: float = 0.0
    mean_seconds: float = 0.0
    head: int = 0


@dataclass(frozen=True)
class Lane:
    """A tenant's jobs in a queue, in the circle of the queue at `position`.

    virtual_time: worker-seconds by weight, of ended attempts. seconds: of the jobs in slots, since their claim. jobs:
    those that wait, by place. last_user: the turns of the users continue after this one.
    """

    tenant: Tenant
    queue: Queue
    position: int
    jobs: Sequence[Job] = ()
    in_use: int = 0
    virtual_time: float = 0.0
    seconds: float = 0.0
    last_user: str = ""
