"""Workers: heartbeats, the jobs of gone workers, and lost messages."""

import math
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models.functions import Now

from jobs.conf import settings
from jobs.models import Pool, Worker
from jobs.store.rows import Applied, Claimed, Seat, objects, rows
from jobs.store.stacks import STACK_LATE
from jobs.store.worker_sessions import session_name

LIVE_BEATS = 3  # a worker that misses so many beats is gone; the statements repeat this number


@dataclass(frozen=True)
class Beat:
    """The answer to a beat.

    registered: whether the worker is new.
    drains: whether the worker was asked to stop in good order.
    """

    registered: bool
    drains: bool


def beat(
    worker: uuid.UUID,
    *,
    name: str,
    pid: int,
    pool: str,
    capacity: int,
    seats: int = 1,
    kind: str = Pool.Kind.ORDINARY,
    threads: bool = False,
    cut_off: bool = False,
    database_wait: float | None = None,
) -> Beat | None:
    """Register a worker or note its beat; None if it was declared gone and must stop.

    capacity: how many attempts it may run at once, which the claim counts: its processes, each with so many seats.
    kind, threads: those of its pool, at its start; the feeder of a light worker claims for it.
    database_wait: the longest that a body of a light pool has waited for a database thread since the last beat, in s.
    cut_off: whether the broker does not answer the worker, or the worker does not take messages.
    """
    facts = {"id": worker, "name": name, "pid": pid, "pool": pool, "kind": kind, "cut_off": cut_off}
    facts |= {"threads": threads, "database_wait": database_wait}
    facts |= {"capacity": capacity, "seats": seats, "interval": float(settings.JOBS_BEAT_INTERVAL)}
    beats = objects(Beat, "beat", **facts)
    return beats[0] if beats else None


def leave(worker: uuid.UUID) -> None:
    """Note that a worker stops in good order."""
    Worker.objects.filter(pk=worker, gone_at=None).update(gone_at=Now())


def declare_gone(watched: float = math.inf, now: datetime | None = None) -> list[str]:
    """Declare the workers gone that had stopped beating by that moment of PostgreSQL's clock; return their names.

    watched: the seconds for which only the death of a worker explains its silence.
    """
    return [name for (name,) in rows("declare_gone", watched=watched, now=now)]


@dataclass(frozen=True)
class Orphan:
    """A running attempt of a gone worker.

    name: the name of the worker; None: it never registered.
    stopped: whether the worker was asked to stop.
    """

    id: int
    attempt: int
    worker: uuid.UUID
    name: str | None
    stopped: bool


def orphans() -> list[Orphan]:
    """Return the running attempts of gone workers."""
    return objects(Orphan, "orphans", unknown_for=LIVE_BEATS * settings.JOBS_BEAT_INTERVAL)


def bar_worker(worker: uuid.UUID) -> bool:
    """Record a worker that never registered as gone: its first beat ends it.

    Return False if it has registered meanwhile.
    """
    unknown = {"name": "unknown", "pid": 0, "pool": "", "concurrency": 0, "beat_interval": 1}
    _, barred = Worker.objects.get_or_create(pk=worker, defaults={**unknown, "gone_at": Now(), "lost": True})
    return barred


@dataclass(frozen=True)
class RunningHere(Applied):
    """An attempt that runs in a process of this worker, by its row."""

    pid: int
    stops: bool = field(default=False, compare=False)  # it makes checkpoints


def running_here(worker: uuid.UUID, grace: float) -> list[tuple[RunningHere, bool, bool]]:
    """Return the attempts that run in this worker.

    Each comes with whether it was asked to stop more than `grace` seconds ago, and whether an operator waits for its
    stack.
    """
    found = rows("running_here", worker=worker, grace=grace, late=STACK_LATE)
    return [
        (RunningHere(job_id, attempt, tenant, pid, stops), overdue, asked)
        for job_id, attempt, tenant, pid, overdue, asked, stops in found
    ]


@dataclass(frozen=True)
class Stoppable:
    """An attempt that makes checkpoints.

    pool: of its queue.
    seconds: since its start.
    why: why it is to give its slot back, whatever its turn is; None: it keeps it.
    others: for how many jobs of other lanes its pool lacks processes.
    """

    id: int
    attempt: int
    pid: int
    source_type: str
    source_method: str
    pool: str
    seconds: float
    why: str | None
    others: int


def wanted_back(worker: uuid.UUID, ids: Sequence[int]) -> list[Stoppable]:
    """Return these attempts of a worker, as far as they still run, and which are to give their slots back."""
    return objects(Stoppable, "wanted_back", worker=worker, ids=list(ids))


@dataclass(frozen=True)
class LeftBehind:
    """An attempt whose process has ended.

    free: whether its row is not locked at this moment.
    """

    id: int
    attempt: int
    free: bool


def left_behind(seat: Seat, job_id: int, attempt: int) -> list[LeftBehind]:
    """Return the attempts of the dead process of a seat: those that ran in it, and that of its message.

    The attempt of the message is among them only if it had not started.
    """
    return objects(LeftBehind, "left_behind", id=job_id, attempt=attempt, **seat.fence())


def end_sessions(worker: uuid.UUID, whose: object = "%", *, patience: float = 0) -> bool:
    """End the sessions of a gone worker, except this one; return whether all have ended.

    whose: a process of it, by pid, or a thread of its parent, by its name; "%": all.
    patience: seconds to wait for each; 0: do not wait.
    """
    name = session_name(worker, whose)
    all_ended: bool = rows("end_sessions", name=name, patience=round(patience * 1000))[0][0]
    return all_ended


def has_sessions_beside(worker: uuid.UUID, pid: int, ours: Sequence[int]) -> bool:
    """Return whether other sessions have the name of this process: those of processes that it has started.

    ours: the server's process ids of our own sessions.
    """
    others: bool = rows("has_sessions_beside", name=session_name(worker, pid), ours=list(ours))[0][0]
    return others


def count_repairs(kind: str, number: int) -> None:
    rows("count_repairs", kind=kind, number=number)


def hand_over_again(patience: float) -> list[Claimed]:
    """Return the queued jobs whose message must be lost: no idle process started them within `patience` seconds."""
    return objects(Claimed, "hand_over_again", patience=patience)


def leave_to_leader(unsent: Sequence[Claimed], worker: uuid.UUID) -> None:
    """Let the leading clock send these messages at once; not if no other worker than this one reaches the broker."""
    ids, attempts = [job.id for job in unsent], [job.attempt for job in unsent]
    patience = settings.JOBS_HAND_OVER_TIMEOUT
    rows("leave_to_leader", ids=ids, attempts=attempts, patience=patience, worker=worker)


def another_reaches_broker(worker: uuid.UUID) -> bool:
    """Return whether another worker has lately reported that it reaches the broker: its clock can lead."""
    reaches: bool = rows("another_reaches_broker", worker=worker)[0][0]
    return reaches
