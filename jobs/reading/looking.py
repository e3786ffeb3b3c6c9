"""Look at the present for health, metrics, the operators' pages and commands. Reads only.

The numbers of waiting jobs and of slots in use come from the books; no look reads all waiting jobs.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from jobs.models import Pool
from jobs.reading.shares import Share
from jobs.store import LIVE_BEATS
from jobs.store.rows import objects, prepared_objects, rows
from jobs.store.session import session

STATEMENT_TIMEOUT = 1.0  # seconds that a look may take
MAX_LANES = 100  # that a look reads: those with the most waiting jobs, and as many whose turn is next
MAX_COUNTED = 20  # waiting jobs of a lane
MAX_GONE = 100  # workers
# Join lanes and tenants as sets, whatever the statistics say of their number, or a role's settings of hash joins.
PLANNER = (
    "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_nestloop = off;"
    " SET LOCAL enable_hashjoin = on;"
    " SET LOCAL enable_sort = off; SET LOCAL jit = off"  # an order chooses its index; a high cost needs no compiling
)


@dataclass(frozen=True)
class SlotsInUse:
    """The slots of a tenant's jobs of a type at one worker.

    worker: None for jobs that were handed over, and that no process has started yet.
    """

    tenant_id: int
    worker: UUID | None
    job_type: str
    slots: int


@dataclass(frozen=True)
class Queue:
    """A queue with its limits, and with what is in use. A limit that is None does not exist.

    held: whether one of its jobs holds it until a moment.
    in_use: slots of its jobs.
    pool_in_use: processes of its pool.
    late, late_seconds, idle_looks: of its pool, as the recorder has found them (jobs/recording/may_run.py).
    wait_target: seconds in which a ready job shall get a process.
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
    held: bool = False
    wait_target: float | None = None


@dataclass(frozen=True)
class Lane:
    """The jobs in line of a tenant in a queue; or those of `lanes` further lanes of the queue (tenant_id None).

    gate: the closed gate of the tenant's slots. None: they let jobs go.
    no_tokens: whether the tenant's rate limit lets no job go.
    passing: jobs that the tenant's limits would let go at once.
    about: whether the number of waiting jobs is not exact.
    first_since: the earliest moment at which one of the first jobs became ready. None: not read.
    of_full_users: those of the counted jobs whose users have all slots that they may have.
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
    """A tenant with its share, its limits and what it has in use.

    in_use: slots.
    num_slots: None if they were never set.
    tokens: None without a rate limit.
    next_at: when the rate limit has a token.
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
    """A worker that is registered, or that went in the last day.

    kind: that of its pool, when it started.
    concurrency: the attempts that it may run at once; 0 while it drains.
    seats: of each of its processes.
    beat_interval: seconds.
    cut_off_at: since when no message reaches it.
    gone_at: None while it is registered.
    lost: whether it was declared gone.
    leads: whether its clock is the leader.
    database_wait: the longest that a body waited for a database thread before its last beat, in seconds.
    threads: whether bodies without `async` run in threads, in a light pool; as its pool said when it started.
    """

    id: UUID
    name: str
    pid: int
    pool: str
    kind: str
    concurrency: int
    seats: int
    beat_interval: float
    started_at: datetime
    beat_at: datetime
    cut_off_at: datetime | None
    gone_at: datetime | None
    lost: bool
    leads: bool
    database_wait: float | None
    threads: bool = False

    @property
    def processes(self) -> int:
        return self.concurrency // self.seats

    @property
    def is_light(self) -> bool:
        return self.kind == Pool.Kind.LIGHT

    def is_live(self, now: datetime) -> bool:
        """Return whether it takes jobs, as the claim sees it."""
        return self.state(now) in ("live", "cut off")

    def state(self, now: datetime) -> str:
        """Return one of these words.

        live: it takes jobs.
        draining: it takes no more jobs.
        cut off: no message reaches it.
        silent: it missed its beats.
        lost: it was declared gone.
        stopped: it stopped in good order.
        """
        if self.gone_at is not None:
            return "lost" if self.lost else "stopped"
        if now - self.beat_at > timedelta(seconds=LIVE_BEATS * self.beat_interval):
            return "silent"
        if self.cut_off_at is not None:
            return "cut off"
        return "live" if self.concurrency else "draining"


@contextmanager
def looking(seconds: float | None = None) -> Iterator[None]:
    """Open a transaction for reads only, each of which gives up after `seconds`; None: after STATEMENT_TIMEOUT."""
    with transaction.atomic():
        rows("look_briefly", milliseconds=round((STATEMENT_TIMEOUT if seconds is None else seconds) * 1000))
        yield
        transaction.set_rollback(True)  # this restores the settings of the caller's transaction


@contextmanager
def reading_as_sets(planner: str = PLANNER) -> Iterator[None]:
    """Open a transaction for reads of all lanes, whose plans do not depend on statistics.

    planner: the statements that set the planner.
    """
    with transaction.atomic():
        with session().cursor() as cursor:
            cursor.execute(planner)
        yield
        transaction.set_rollback(True)  # this restores the settings of the caller's transaction


def look_slots() -> list[SlotsInUse]:
    return prepared_objects(SlotsInUse, "look_slots")


def look_queues() -> dict[int, Queue]:
    """Return all queues by id, in the order of their names."""
    return {queue.id: queue for queue in prepared_objects(Queue, "look_queues")}


def look_lanes(*, tenants: Collection[int] | None = None) -> list[Lane]:
    """Return the lanes with jobs in line; if tenants are given, all lanes of these tenants alone."""
    ids, limit = (None, MAX_LANES) if tenants is None else (sorted(tenants), None)
    with reading_as_sets():
        return objects(Lane, "look_lanes", tenants=ids, most=limit, exact=MAX_COUNTED)


def look_tenants(ids: Collection[int]) -> dict[int, Tenant]:
    """Return the tenants with these ids that exist, by id."""
    return {tenant.id: tenant for tenant in objects(Tenant, "look_tenants", ids=sorted(ids))}


def look_workers() -> list[Worker]:
    """Return the registered workers by pool, then the last MAX_GONE that went in the last day, latest first."""
    return objects(Worker, "look_workers", most=MAX_GONE)
