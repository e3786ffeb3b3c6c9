"""What the holder of an attempt does; each statement is fenced by the attempt number."""

import json
import os
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobs.models import HELD_UNTIL
from jobs.store.rows import Started, rows


@dataclass(frozen=True)
class Failure:
    """What is kept of an attempt that ended badly. stats: None leaves the job's as they are."""

    error_class: str
    error: str
    traceback: str = ""
    stats: dict[str, Any] | None = None

    def parameters(self) -> dict[str, Any]:
        stats = None if self.stats is None else json.dumps(self.stats)
        return {"error_class": self.error_class, "error": self.error, "traceback": self.traceback, "stats": stats}


@dataclass(frozen=True)
class Process:
    """A child of a worker. Two may have had a message of the same attempt; one of them started it."""

    worker: uuid.UUID | None = None
    pid: int | None = None


ANY_PROCESS = Process()


def start(job_id: int, attempt: int, worker: uuid.UUID, now: datetime | None = None) -> Started | None:
    """queued -> running in this process; None if the attempt does not wait to be started, or its job type is paused."""
    return _started(rows("start", id=job_id, attempt=attempt, worker=worker, pid=os.getpid(), now=now))


def holder(job_id: int, attempt: int, process: Process = ANY_PROCESS) -> Started | None:
    """What an attempt running in that process was given; None if there it is not running (any more)."""
    return _started(rows("holder", id=job_id, attempt=attempt, worker=process.worker, pid=process.pid))


def _started(found: list[tuple[Any, ...]]) -> Started | None:
    if not found:
        return None
    row = list(found[0])
    row[6] = json.loads(row[6])  # args
    return Started(*row)


def put_off(job_id: int, attempt: int) -> bool:
    """queued -> scheduled, held, if its job type is paused."""
    return bool(rows("put_off", id=job_id, attempt=attempt, held_until=HELD_UNTIL))


def progress(job_id: int, attempt: int, fraction: float, note: str) -> bool:
    """Note how far a running attempt is (0..1)."""
    return bool(rows("progress", id=job_id, attempt=attempt, fraction=fraction, note=note))


def cancel_requested(job_id: int, attempt: int) -> bool:
    """Whether a running attempt is asked to stop."""
    found = rows("cancel_requested", id=job_id, attempt=attempt)
    return bool(found and found[0][0])


def succeed(
    job_id: int, attempt: int, stats: dict[str, Any], result_ttl: float | None, now: datetime | None = None
) -> bool:
    """running -> success. result_ttl: seconds its result is kept; None: it was not kept."""
    return bool(rows("succeed", id=job_id, attempt=attempt, stats=json.dumps(stats), result_ttl=result_ttl, now=now))


def fail(job_id: int, attempt: int, failure: Failure, *, dead: bool = False, now: datetime | None = None) -> bool:
    """running -> error, or -> dead (bury)."""
    return bool(rows("fail", id=job_id, attempt=attempt, dead=dead, now=now, **failure.parameters()))


def retry(
    job_id: int, attempt: int, failure: Failure, *, delay: float, queue: str | None = None, now: datetime | None = None
) -> bool:
    """running -> scheduled after `delay` seconds, in another queue if one is given; not if it is to be cancelled."""
    return bool(rows("retry", id=job_id, attempt=attempt, delay=delay, queue=queue, now=now, **failure.parameters()))


def snooze(job_id: int, attempt: int, stats: dict[str, Any], *, delay: float, now: datetime | None = None) -> bool:
    """running -> scheduled after `delay` seconds, without a failure; not if it is to be cancelled."""
    return bool(rows("snooze", id=job_id, attempt=attempt, stats=json.dumps(stats), delay=delay, now=now))


def stop(
    job_id: int,
    attempt: int,
    stats: dict[str, Any] | None = None,
    failure: Failure | None = None,
    now: datetime | None = None,
) -> bool:
    """running -> cancelled, if it was asked to stop. failure: how the attempt ended, if badly; it has its own stats."""
    kept: dict[str, Any] = {"error_class": None, "error": None, "traceback": None}
    kept["stats"] = None if stats is None else json.dumps(stats)
    if failure is not None:
        kept = failure.parameters()
    return bool(rows("stop", id=job_id, attempt=attempt, now=now, **kept))


def take_back(
    job_id: int,
    attempt: int,
    failure: Failure,
    max_crashes: int,
    *,
    process: Process = ANY_PROCESS,
    now: datetime | None = None,
) -> str | None:
    """queued or running -> scheduled after a crash; -> dead after `max_crashes`; -> cancelled if it was asked to stop.

    process: the one that died; what runs in another is left alone. The new status; None if it did not apply, or
    somebody else has locked the row.
    """
    found = rows(
        "take_back",
        id=job_id,
        attempt=attempt,
        error_class=failure.error_class,
        error=failure.error,
        traceback="",
        max_crashes=max_crashes,
        worker=process.worker,
        pid=process.pid,
        now=now,
    )
    return found[0][2] if found else None
