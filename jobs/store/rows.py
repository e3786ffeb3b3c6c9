"""Run the statements, and turn their rows into objects."""

import os
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Self, TypeVar

from jobs import telemetry
from jobs.sql import statement
from jobs.store import clock, lock_wait
from jobs.store.session import session
from plumbing.prepared import objects_on, prepared_on

Row = TypeVar("Row")


@dataclass(frozen=True)
class Applied:
    """A job that a statement moved."""

    id: int
    attempt: int
    tenant_id: int


@dataclass(frozen=True)
class Due(Applied):
    """A job whose moment has come.

    ready: whether it is in line now; otherwise it keeps waiting.
    held: whether it keeps waiting because its type is paused.
    """

    ready: bool
    held: bool


@dataclass(frozen=True)
class Claimed:
    """A job to hand over.

    waited: seconds since it was ready.
    """

    id: int
    attempt: int
    pool: str
    waited: float = 0
    limited: bool = False  # it used a token of a rate limit
    tenant_id: int | None = None  # None: unknown, since it is handed over again


@dataclass(frozen=True)
class Seat:
    """A place in a process of a worker that runs one attempt at a time.

    Two processes may get a message of the same attempt; one of them starts it. Worker, process and attempt fence its
    row, and the table `jobs` has no column for the number of the seat: no two seats of a process get the same attempt.
    So each seat of a process names that process to a statement.

    worker: None: whatever its worker is.
    pid: its process; None: each process of the worker.
    """

    worker: uuid.UUID | None = None
    pid: int | None = None

    @classmethod
    def here(cls, worker: uuid.UUID) -> Self:
        """Return a seat of this process."""
        return cls(worker, os.getpid())

    def fence(self) -> dict[str, Any]:
        """Return the parameters by which a statement names the holder of an attempt."""
        return {"worker": self.worker, "pid": self.pid}


@dataclass(frozen=True)
class Holder(Seat):
    """The seat that runs an attempt, with its use of the slot since the last charge.

    since: the start of the first job that ran in the slot since then; None: this job is the first.
    lost: whether the process ends with the attempt, and has to be replaced.
    """

    since: datetime | None = None
    lost: bool = False

    def charge(self) -> dict[str, Any]:
        """Return the parameters of the statement that ends the attempt: the fence, and what is charged."""
        return {**self.fence(), "since": self.since, "lost": self.lost}


ANY_SEAT = Seat()
ANY_HOLDER = Holder()


@dataclass(frozen=True)
class Started:
    """The data that a holder needs to run an attempt and to settle it.

    timeout: seconds.
    memory: MiB; None: JOBS_DEFAULT_MEMORY.
    stops_sequence: whether it is in a sequence that stands still once it has failed.
    """

    id: int
    attempt: int
    tenant_id: int
    source_type: str
    source_id: str | None
    source_method: str
    args: dict[str, Any]
    cursor: str | None  # of the last checkpoint, as JSON; None: there was none
    event: str | None  # the last that it waited for, as JSON; None: none has come
    retries: int
    max_retries: int | None
    default_max_retries: int | None  # of its queue
    default_backoff: float  # of its queue, seconds
    backoff_grows: bool  # of its queue: each delay is twice the last
    timeout: float
    memory: int | None
    stops_sequence: bool
    queue: str
    trace_parent: str | None
    waited_since: datetime | None
    start_time: datetime
    holder: Holder


class Pass(list[Claimed]):
    """The jobs that one pass claimed, in the order of the turns.

    more: whether another pass may find room for a further job.
    locked: the lanes with too few unlocked jobs, in the form in which the next pass takes them.
    uncounted: whether the books must be counted anew.
    ends: whether there is news for the reader of ends.
    spent: whether another budget is used up, or one no longer is.
    started: the job that the caller keeps, if it could be started.
    went_home: whether another dispatch waits at the door, and does the work.
    idle: whether processes are left for which no job could be found.
    resting: whether tenants that hold all of their slots could borrow those processes.
    full: whether all processes have a job, and others wait. Then a process that becomes free makes the next pass.
    rings: the light pools whose feeders could start a job, and should make a pass.
    """

    more = uncounted = ends = spent = idle = resting = full = False
    locked: frozenset[str] = frozenset()
    rings: tuple[str, ...] = ()
    started: Started | None = None

    def __init__(self, claimed: Iterable[Claimed] = (), *, went_home: bool = False) -> None:
        super().__init__(claimed)
        self.went_home = went_home


def rows(name: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
    """Run `sql/<name>.sql` in the engine's session, so inside the caller's transaction if there is one."""
    with session().cursor() as cursor:
        cursor.execute(statement(name), _timed(parameters))
        return cursor.fetchall() if cursor.description else []


def objects(kind: type[Row], name: str, /, **parameters: Any) -> list[Row]:
    """Run a statement like `rows`; return objects: each column is the field of its name."""
    with session().cursor() as cursor:
        cursor.execute(statement(name), _timed(parameters))
        columns = [column.name for column in cursor.description]
        return [kind(**dict(zip(columns, row, strict=True))) for row in cursor.fetchall()]


def prepared(name: str, /, **parameters: Any) -> list[tuple[Any, ...]]:
    """Run a statement like `rows`. For those of every job or of every two seconds: the server keeps the plan."""
    return prepared_on(session(), statement(name), **_timed(parameters))


def prepared_objects(kind: type[Row], name: str, /, **parameters: Any) -> list[Row]:
    """Run a statement like `prepared`; return objects: each column is the field of its name."""
    return objects_on(session(), kind, statement(name), **_timed(parameters))


def _timed(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters with the time, which only a test or the caller sets, and with the patience for locks."""
    return parameters | {"now": parameters.get("now") or clock.moment(), "lock_wait": lock_wait.asked()}


def moved(verb: str, changed: Sequence[tuple[Any, ...]], **facts: object) -> list[Applied]:
    """Return the jobs that a statement moved, and log each."""
    jobs = [Applied(*row) for row in changed]
    for job in jobs:
        log(verb, job.id, job.attempt, tenant=job.tenant_id, **facts)
    return jobs


def log(verb: str, job_id: int, attempt: int, **facts: object) -> None:
    """Log an applied transition when its transaction commits, if anybody wants such lines."""
    if telemetry.wants_transitions():
        session().on_commit(partial(telemetry.applied, verb, job_id, attempt, **facts))
