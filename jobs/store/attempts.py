"""What the holder of an attempt does; each statement is fenced by the attempt number."""

import json
import os
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings

from jobs.models import HELD_UNTIL
from jobs.store.rows import ANY_HOLDER, ANY_PROCESS, Holder, Process, Started, prepared, rows


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


def start(job_id: int, attempt: int, worker: uuid.UUID, now: datetime | None = None) -> Started | None:
    """queued -> running in this process; None if the attempt does not wait to be started, or its job type is paused."""
    process = Process(worker, os.getpid())
    found = prepared("start", id=job_id, attempt=attempt, default_timeout=_default_timeout(), now=now, **vars(process))
    return _started(found, process)


def holder(job_id: int, attempt: int, process: Process = ANY_PROCESS) -> Started | None:
    """What an attempt running in that process was given; None if there it is not running (any more)."""
    found = rows("holder", id=job_id, attempt=attempt, default_timeout=_default_timeout(), **vars(process))
    return _started(found, process)


def held(process: Process) -> Started | None:
    """What that process is running, whatever it believes."""
    return _started(rows("held", default_timeout=_default_timeout(), **vars(process)), process)


def _started(found: list[tuple[Any, ...]], process: Process, first: Holder = ANY_HOLDER) -> Started | None:
    """first: who held the slot before, if this one follows in it."""
    if not found or found[0][0] is None:
        return None
    row: list[Any] = list(found[0])
    row[6] = json.loads(row[6])  # args
    followed = first.followed + (first is not ANY_HOLDER)
    row[-1] = Holder(process.worker, process.pid, first.since or row[-1], followed)  # in the place of its start
    return Started(*row)


def _default_timeout() -> float:
    return float(settings.JOBS_DEFAULT_TIMEOUT)


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
    job_id: int,
    attempt: int,
    stats: dict[str, Any],
    result_ttl: float | None,
    result_bytes: int | None = None,
    *,
    by: Holder = ANY_HOLDER,
    now: datetime | None = None,
) -> bool:
    """running -> success. result_ttl: seconds its result is kept; None: it was not kept. result_bytes: its size."""
    result = {"stats": json.dumps(stats), "result_ttl": result_ttl, "result_bytes": result_bytes}
    return bool(_succeed(job_id, attempt, result, by, now, follow=False))


def succeed_and_follow(
    job_id: int,
    attempt: int,
    stats: dict[str, Any],
    result_ttl: float | None,
    result_bytes: int | None = None,
    *,
    by: Holder,
    now: datetime | None = None,
) -> tuple[bool, Started | None]:
    """running -> success, and the next job of the lane created -> running in this slot and process, if there is one."""
    result = {"stats": json.dumps(stats), "result_ttl": result_ttl, "result_bytes": result_bytes}
    found = _succeed(job_id, attempt, result, by, now, follow=True)
    return bool(found), _started(found, by, by)


def _succeed(
    job_id: int, attempt: int, result: dict[str, Any], by: Holder, now: datetime | None, *, follow: bool
) -> list[tuple[Any, ...]]:
    parameters = {"id": job_id, "attempt": attempt, "follow": follow, "default_timeout": _default_timeout(), "now": now}
    return prepared("succeed", **parameters, **result, **by.parameters())


def fail(
    job_id: int,
    attempt: int,
    failure: Failure,
    *,
    dead: bool = False,
    by: Holder = ANY_HOLDER,
    now: datetime | None = None,
) -> bool:
    """running -> error, or -> dead (bury)."""
    parameters = failure.parameters() | by.parameters()
    return bool(rows("fail", id=job_id, attempt=attempt, dead=dead, now=now, **parameters))


def retry(
    job_id: int,
    attempt: int,
    failure: Failure,
    *,
    delay: float,
    queue: str | None = None,
    by: Holder = ANY_HOLDER,
    now: datetime | None = None,
) -> bool:
    """running -> scheduled after `delay` seconds, in another queue if one is given; not if it is to be cancelled."""
    parameters = failure.parameters() | by.parameters()
    return bool(rows("retry", id=job_id, attempt=attempt, delay=delay, queue=queue, now=now, **parameters))


def snooze(
    job_id: int,
    attempt: int,
    stats: dict[str, Any],
    *,
    delay: float,
    by: Holder = ANY_HOLDER,
    now: datetime | None = None,
) -> bool:
    """running -> scheduled after `delay` seconds, without a failure; not if it is to be cancelled."""
    parameters = {"stats": json.dumps(stats), "delay": delay} | by.parameters()
    return bool(rows("snooze", id=job_id, attempt=attempt, now=now, **parameters))


def stop(
    job_id: int,
    attempt: int,
    stats: dict[str, Any] | None = None,
    failure: Failure | None = None,
    *,
    by: Holder = ANY_HOLDER,
    now: datetime | None = None,
) -> bool:
    """running -> cancelled, if it was asked to stop. failure: how the attempt ended, if badly; it has its own stats."""
    kept: dict[str, Any] = {"error_class": None, "error": None, "traceback": None}
    kept["stats"] = None if stats is None else json.dumps(stats)
    if failure is not None:
        kept = failure.parameters()
    return bool(rows("stop", id=job_id, attempt=attempt, now=now, **kept, **by.parameters()))


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
