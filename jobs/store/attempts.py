"""An attempt while it runs, as its holder sees it; each statement is fenced by the attempt number."""

import json
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from jobs.allocation.order import SLICE
from jobs.conf import settings
from jobs.models import EXPIRED, HELD_UNTIL
from jobs.store import clock
from jobs.store.rows import ANY_SEAT, Holder, Seat, Started, log, moved, prepared, rows


def start(job_id: int, attempt: int, seat: Seat) -> Started | None:
    """queued -> running in this seat; None if the attempt does not wait to start, is paused, or has expired."""
    return logged_start(prepared("start", id=job_id, attempt=attempt, **starting(seat)), seat)


def starting(seat: Seat) -> dict[str, Any]:
    """Return the parameters of a start in that seat."""
    return {"default_timeout": default_timeout(), "now": clock.moment(), **seat.fence()}


def logged_start(answer: list[tuple[Any, ...]], seat: Seat) -> Started | None:
    """Log and return the attempt that a statement of the arrow `start` has started; None if it has not."""
    begun = started(answer, seat)
    if begun is not None:
        log_start(begun)
    return begun


def log_start(job: Started) -> None:
    """Log that an attempt has started."""
    log("start", job.id, job.attempt, tenant=job.tenant_id, worker=job.holder.worker)


def all_started(answer: Sequence[tuple[Any, ...]], worker: uuid.UUID) -> list[Started]:
    """Return the attempts in the rows of a statement, whose last column is the process of each."""
    return [held for *row, pid in answer if (held := started([tuple(row)], Seat(worker, pid))) is not None]


def still_running(job_id: int, attempt: int, seat: Seat = ANY_SEAT) -> Started | None:
    """Return the attempt if it is running in the process of that seat; None if it is not, or no longer."""
    answer = rows("still_running", id=job_id, attempt=attempt, default_timeout=default_timeout(), **seat.fence())
    return started(answer, seat)


def running_in(seat: Seat, after: datetime) -> Started | None:
    """Return the attempt that this process is running by PostgreSQL, if it started after that moment.

    The process has one seat: in one with several the attempt may be that of another seat.
    """
    facts = {"worker": seat.worker, "pids": [seat.pid], "after": after, "default_timeout": default_timeout()}
    answer = rows("running_in", **facts)
    return started([row[:-1] for row in answer], seat)


def running_in_all(worker: uuid.UUID, pids: Sequence[int], after: datetime) -> list[Started]:
    """Return the attempts that these processes are running by PostgreSQL, of those that started after that moment.

    For a feeder that has lost an answer: the attempts that none of its seats runs have to be run, or taken back.
    """
    facts = {"worker": worker, "pids": list(pids), "after": after, "default_timeout": default_timeout()}
    return all_started(rows("running_in", **facts), worker)


def started(answer: list[tuple[Any, ...]], seat: Seat, since: datetime | None = None) -> Started | None:
    """Return the attempt in the rows of a statement; None if there is none.

    since: the start of the first job in the slot, if this attempt follows in it.
    """
    if not answer or answer[0][0] is None:
        return None
    row: list[Any] = list(answer[0])
    row[6] = json.loads(row[6])  # args
    row.append(Holder(seat.worker, seat.pid, since or row[-1]))
    return Started(*row)


def default_timeout() -> float:
    return float(settings.JOBS_DEFAULT_TIMEOUT)


def most_time() -> dict[str, float]:
    """Return the parameters of the most time that is charged: the limit, and the most that an attempt takes beyond it.

    overtime: seconds from the limit until the attempt is killed, and of the jobs before it in its slice.
    """
    return {"default_timeout": default_timeout(), "overtime": settings.JOBS_TIMEOUT_GRACE + SLICE}


def unknown_for(job: Started) -> float:
    """Return for how many seconds, until the present attempt, no worker that met the job knew its type."""
    seconds: float = rows("unknown_for", id=job.id, attempt=job.attempt, start_time=job.start_time)[0][0]
    return seconds


def put_off(job_id: int, attempt: int, *, suspect: bool = False) -> bool:
    """queued -> scheduled, held, if its job type is paused.

    suspect: instead, for up to a minute, if it is a suspect.
    """
    tenants = rows("put_off", id=job_id, attempt=attempt, held_until=HELD_UNTIL, suspect=suspect)
    for (tenant_id,) in tenants:
        log("put_off", job_id, attempt, tenant=tenant_id)
    return bool(tenants)


def turn_away(job_id: int, attempt: int) -> bool:
    """queued -> cancelled, if its time to start has passed."""
    return bool(moved("turn_away", rows("turn_away", id=job_id, attempt=attempt), reason=EXPIRED))


def has_succeeded(job: Started) -> bool:
    """Return whether the attempt has ended as a success. Waits for a transaction that is about to end it."""
    answer = rows("has_succeeded", id=job.id, attempt=job.attempt, **job.holder.fence())
    return bool(answer and answer[0][0])


def progress(  # noqa: PLR0917 - a light seat passes no names
    job_id: int, attempt: int, seat: Seat, fraction: float, note: str, units: dict[str, int] | None = None
) -> bool:
    """Store the progress (0 to 1) of an attempt that runs in this process, and what it has used so far.

    Return False if it does not, or if another transaction has locked the job: then nothing is stored.
    """
    told = {"fraction": fraction, "note": note, "units": json.dumps(units) if units else None}
    return bool(rows("progress", id=job_id, attempt=attempt, **told, **seat.fence()))


def checkpoint(job_id: int, attempt: int, seat: Seat, cursor: str, units: dict[str, int] | None = None) -> bool:
    """Store the cursor (JSON) of an attempt that runs in this process, and what it used; return whether it may go on.

    False: it was asked to stop, or it does not run here, or another transaction has locked the job.
    """
    told = {"cursor": cursor, "units": json.dumps(units) if units else None}
    return rows("checkpoint", id=job_id, attempt=attempt, **told, **seat.fence()) == [(False,)]


def keep_log(job: Started, text: str) -> None:
    """Keep what an attempt logged and printed, until the history forgets the job, or it is erased."""
    rows("keep_log", tenant_id=job.tenant_id, job_id=job.id, attempt=job.attempt, text=text)


def cancel_requested(job_id: int, attempt: int, seat: Seat) -> bool:
    """Return whether an attempt that runs in this process was asked to stop."""
    answer = rows("cancel_requested", id=job_id, attempt=attempt, **seat.fence())
    return bool(answer and answer[0][0])
