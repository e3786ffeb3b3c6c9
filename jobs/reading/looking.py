"""What health, metrics, the operators' pages and commands look at of the present moment. Reads only.

What waits and what is in use is told by the books; no look reads all waiting jobs.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from jobs.reading.shares import Share
from jobs.store import LIVE_BEATS
from jobs.store.rows import objects, prepared_objects, rows
from jobs.store.session import session

STATEMENT_TIMEOUT = 1.0  # seconds that a look may take
MAX_LANES = 100  # that are looked at: those with the most waiting jobs, and as many whose turn is next
MAX_COUNTED = 20  # waiting jobs of a lane
MAX_GONE = 100  # workers
# Lanes and tenants are joined as sets, whatever the statistics say of their number, or a role of hash joins.
PLANNER = (
    "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_nestloop = off;"
    " SET LOCAL enable_hashjoin = on;"
    " SET LOCAL enable_sort = off; SET LOCAL jit = off"  # an order chooses its index; its price is no reason to compile
)


@dataclass(frozen=True)
class SlotsInUse:
    """Of a tenant. worker: None if the jobs are handed over, and no process has started them yet."""

    tenant_id: int
    worker: UUID | None
    slots: int


@dataclass(frozen=True)
class Queue:
    """A queue. in_use, pool_in_use: its slots, and the processes of its pool. None: no limit.

    late, late_seconds, idle_looks: of its pool, as the recorder has found them (jobs/recording/may_run.py).
    """

    id: int
    name: str
    pool: str
    weight: int
    concurrency: int | None
    paused: bool
    rate_limit: int | None
    rate_window: float | None
    in_use: int
    pool_in_use: int
    pool_processes: int
    tokens: float | None
    next_at: datetime | None
    late: int = 0
    late_seconds: float = 0.0
    idle_looks: int = 0


@dataclass(frozen=True)
class Lane:
    """The jobs in line of a tenant in a queue; or those of `lanes` further lanes of the queue (tenant_id None).

    gate: of the slots of the tenant, if it lets none of them go now; no_tokens: whether its rate limit lets none go.
    passing: jobs that the tenant's limits would let go at once. about: the number of those that wait is not exact.
    first_since: the earliest moment at which one of the first became ready; None: not read. of_full_users: jobs of
    users who have all slots that they may have, as far as they were counted.
    """

    tenant_id: int | None
    queue_id: int
    gate: str | None
    no_tokens: bool
    waiting: int
    passing: int
    lanes: int = 1
    about: bool = True
    first_since: datetime | None = None
    of_full_users: int = 0


@dataclass(frozen=True, kw_only=True)
class Tenant(Share):
    """in_use: slots. num_slots: None if they were never set. tokens: None without a rate limit. next_at: when there is
    a token.
    """

    id: int
    name: str
    slug: str
    in_use: int
    num_slots: int | None
    burst_slots: int | None
    paused: bool
    rate_limit: int | None
    tokens: float | None
    next_at: datetime | None


@dataclass(frozen=True)
class Worker:
    """cut_off_at: since when no message reaches it. gone_at: None while it is registered. lost: it was declared gone.

    leads: its clock is the leader.
    """

    id: UUID
    name: str
    pid: int
    pool: str
    concurrency: int
    beat_interval: float
    started_at: datetime
    beat_at: datetime
    cut_off_at: datetime | None
    gone_at: datetime | None
    lost: bool
    leads: bool

    def state(self, now: datetime) -> str:
        """live, draining (it takes no jobs), cut off (no message reaches it), silent (it missed its beats), lost
        (declared gone) or stopped."""
        if self.gone_at is not None:
            return "lost" if self.lost else "stopped"
        if now - self.beat_at > timedelta(seconds=LIVE_BEATS * self.beat_interval):
            return "silent"
        if self.cut_off_at is not None:
            return "cut off"
        return "live" if self.concurrency else "draining"


@contextmanager
def looking(seconds: float | None = None) -> Iterator[None]:
    """A transaction for reads alone, which give up after so many seconds (STATEMENT_TIMEOUT)."""
    with transaction.atomic():
        rows("look_briefly", milliseconds=round((STATEMENT_TIMEOUT if seconds is None else seconds) * 1000))
        yield
        transaction.set_rollback(True)  # this restores the settings of the caller's transaction


@contextmanager
def reading_as_sets(planner: str = PLANNER) -> Iterator[None]:
    """A transaction for reads of all lanes: their plan does not depend on statistics. planner: how."""
    with transaction.atomic():
        with session().cursor() as cursor:
            cursor.execute(planner)
        yield
        transaction.set_rollback(True)  # this restores the settings of the caller's transaction


def look_slots() -> list[SlotsInUse]:
    return prepared_objects(SlotsInUse, "look_slots")


def look_queues() -> dict[int, Queue]:
    """All queues by id, in the order of their names."""
    return {queue.id: queue for queue in prepared_objects(Queue, "look_queues")}


def look_lanes(*, tenants: Collection[int] | None = None) -> list[Lane]:
    """The lanes with jobs in line; of these tenants alone, each of them, if some are given."""
    asked, most = (None, MAX_LANES) if tenants is None else (sorted(tenants), None)
    with reading_as_sets():
        return objects(Lane, "look_lanes", tenants=asked, most=most, exact=MAX_COUNTED)


def look_tenants(ids: Collection[int]) -> dict[int, Tenant]:
    """Those of these tenants that exist, by id."""
    return {tenant.id: tenant for tenant in objects(Tenant, "look_tenants", ids=sorted(ids))}


def look_workers() -> list[Worker]:
    """The workers that are there by pool, then the last MAX_GONE that went in the last day, latest first."""
    return objects(Worker, "look_workers", most=MAX_GONE)
