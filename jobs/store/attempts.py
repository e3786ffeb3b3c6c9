"""An attempt while it runs, as its holder sees it; each statement is fenced by the attempt number."""

import json
import os
import uuid
from datetime import datetime
from typing import Any

from jobs.allocation.order import SLICE
from jobs.conf import settings
from jobs.models import EXPIRED, HELD_UNTIL
from jobs.store import clock
from jobs.store.rows import ANY_HOLDER, ANY_PROCESS, Holder, Process, Started, log, moved, prepared, rows


def start(job_id: int, attempt: int, worker: uuid.UUID) -> Started | None:
    """queued -> running in this process; None if the attempt does not wait to start, is paused, or has expired."""
    process = Process(worker, os.getpid())
    return logged_start(prepared("start", id=job_id, attempt=attempt, **starting(process)), process)


def starting(process: Process) -> dict[str, Any]:
    """Return the parameters of a start in that process."""
    return {"default_timeout": default_timeout(), "now": clock.moment(), **vars(process)}


def logged_start(found: list[tuple[Any, ...]], process: Process) -> Started | None:
    """Log and return the attempt that a statement of the arrow `start` has started; None if it has not."""
    begun = started(found, process)
    if begun is not None:
        log("start", begun.id, begun.attempt, tenant=begun.tenant_id, worker=process.worker)
    return begun


def still_running(job_id: int, attempt: int, process: Process = ANY_PROCESS) -> Started | None:
    """Return the attempt if it is running in that process; None if it is not, or no longer."""
    found = rows("still_running", id=job_id, attempt=attempt, default_timeout=default_timeout(), **vars(process))
    return started(found, process)


def running_in(process: Process, after: datetime) -> Started | None:
    """Return the attempt that the process is running by PostgreSQL, if it started after that moment."""
    found = rows("running_in", default_timeout=default_timeout(), after=after, **vars(process))
    return started(found, process)


def started(found: list[tuple[Any, ...]], process: Process, first: Holder = ANY_HOLDER) -> Started | None:
    """Return the attempt in the rows of a statement; None if there is none.

    first: the previous holder of the slot, if this attempt follows in it.
    """
    if not found or found[0][0] is None:
        return None
    row: list[Any] = list(found[0])
    row[6] = json.loads(row[6])  # args
    row.append(Holder(process.worker, process.pid, first.since or row[-1]))
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
    found: float = rows("unknown_for", id=job.id, attempt=job.attempt, start_time=job.start_time)[0][0]
    return found


def put_off(job_id: int, attempt: int) -> bool:
    """queued -> scheduled, held, if its job type is paused."""
    found = rows("put_off", id=job_id, attempt=attempt, held_until=HELD_UNTIL)
    for (tenant_id,) in found:
        log("put_off", job_id, attempt, tenant=tenant_id)
    return bool(found)


def turn_away(job_id: int, attempt: int) -> bool:
    """queued -> cancelled, if its time to start has passed."""
    return bool(moved("turn_away", rows("turn_away", id=job_id, attempt=attempt), reason=EXPIRED))


def progress(job_id: int, attempt: int, process: Process, fraction: float, note: str) -> bool:
    """Store the progress (0 to 1) of an attempt that runs in this process; return False if it does not."""
    return bool(rows("progress", id=job_id, attempt=attempt, fraction=fraction, note=note, **vars(process)))


def keep_log(job: Started, text: str) -> None:
    """Keep what an attempt logged and printed, until the history forgets the job, or it is erased."""
    rows("keep_log", tenant_id=job.tenant_id, job_id=job.id, attempt=job.attempt, text=text)


def cancel_requested(job_id: int, attempt: int, process: Process) -> bool:
    """Return whether an attempt that runs in this process was asked to stop."""
    found = rows("cancel_requested", id=job_id, attempt=attempt, **vars(process))
    return bool(found and found[0][0])
