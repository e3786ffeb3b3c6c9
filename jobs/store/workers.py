"""Workers: who is live, what the gone ones were running, and whose message was lost."""

import math
import uuid
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from jobs.store.rows import Claimed, Process, rows
from jobs.store.worker_sessions import session_name

LIVE_BEATS = 3  # a worker silent for so many of its beats is gone; the statements say so, too


def beat(worker: uuid.UUID, *, name: str, pid: int, pool: str, concurrency: int) -> bool | None:
    """Register or go on; True if it is new, None if it was declared gone and must stop."""
    interval = float(settings.JOBS_BEAT_INTERVAL)
    found = rows("beat", id=worker, name=name, pid=pid, pool=pool, concurrency=concurrency, interval=interval)
    return found[0][0] if found else None


def leave(worker: uuid.UUID) -> None:
    """A worker stops in good order."""
    rows("leave", id=worker)


def declare_gone(watched: float = math.inf, latest: float = math.inf, now: datetime | None = None) -> list[str]:
    """The names of the workers that stopped beating, now declared gone.

    watched: seconds since when nothing but their death explains the silence of all of them. latest: the most that
    PostgreSQL's clock shows (`database_time`) if nobody has set it.
    """
    return [name for (name,) in rows("declare_gone", watched=watched, latest=latest, now=now)]


@dataclass(frozen=True)
class Orphan:
    """A running attempt whose worker is gone. name: None if that never registered."""

    id: int
    attempt: int
    worker: uuid.UUID
    name: str | None


def orphans(now: datetime | None = None) -> list[Orphan]:
    """The running attempts whose worker is gone."""
    return [Orphan(*row) for row in rows("orphans", unknown_for=LIVE_BEATS * settings.JOBS_BEAT_INTERVAL, now=now)]


def bar_worker(worker: uuid.UUID) -> bool:
    """Note a worker that never registered as gone; False if it has registered meanwhile."""
    return bool(rows("bar_worker", id=worker))


@dataclass(frozen=True)
class LeftBehind:
    """An attempt whose process is no more. free: nobody has locked its row just now."""

    id: int
    attempt: int
    free: bool


def left_behind(process: Process, job_id: int, attempt: int) -> list[LeftBehind]:
    """What a process was running when it died, and the attempt of its message, if that had not started."""
    found = rows("left_behind", worker=process.worker, pid=process.pid, id=job_id, attempt=attempt)
    return [LeftBehind(*row) for row in found]


def end_sessions(worker: uuid.UUID, pid: int | None = None, *, patience: float = 0) -> bool:
    """End the sessions of a worker that is gone, or of one process of it; whether all have ended.

    patience: seconds to wait for each; 0: they are only asked to.
    """
    name = session_name(worker, "%" if pid is None else pid)
    found: bool = rows("end_sessions", name=name, patience=round(patience * 1000))[0][0]
    return found


def count_repairs(kind: str, number: int) -> None:
    """Add to the number of repairs of this kind."""
    rows("count_repairs", kind=kind, number=number)


def hand_over_again(patience: float, now: datetime | None = None) -> list[Claimed]:
    """The queued jobs whose message must be lost: `patience` seconds unanswered beside an idle process."""
    return [Claimed(*row) for row in rows("hand_over_again", patience=patience, now=now)]
