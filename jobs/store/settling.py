"""End an attempt. Each statement is fenced by the attempt number and by the process that holds it."""

import json
from dataclasses import dataclass
from functools import partial
from typing import Any, TypedDict, Unpack

from jobs import telemetry
from jobs.authoring.exceptions import EventWait, Later
from jobs.lifecycle import HandBack, Status
from jobs.sql import statement
from jobs.store import clock
from jobs.store.attempts import default_timeout, started
from jobs.store.pipeline import Pipeline
from jobs.store.rows import ANY_HOLDER, ANY_SEAT, Holder, Seat, Started, log, prepared, rows
from jobs.store.session import session
from jobs.telemetry import traces
from plumbing.error_shapes import key_of, shape
from plumbing.wire import Answer

Stats = dict[str, Any]  # of a job, as JSON has them
Units = dict[str, int]  # amounts by unit


@dataclass(frozen=True)
class Failure:
    """The facts that are stored of a failed attempt.

    stats: None: the job's stats stay unchanged.
    """

    error_class: str
    error: str
    traceback: str = ""
    stats: Stats | None = None

    @property
    def key(self) -> int:
        """The key by which dead jobs are grouped: that of the shape of `last_error`."""
        return key_of(shape(f"{self.error_class}: {self.error}"))

    def parameters(self) -> dict[str, Any]:
        stats = None if self.stats is None else json.dumps(self.stats)
        return {"error_class": self.error_class, "error": self.error, "traceback": self.traceback, "stats": stats}


class End(TypedDict, total=False):
    """Facts of the end of an attempt.

    peak_memory: the most MiB that the process used during the attempt; None: not known.
    units: what the attempt used, by unit; None: as the last progress said, or nothing.
    by: the holder that ends it.
    cursor: that of the body's last checkpoint, as JSON, of an attempt that did not succeed; None: as it is stored.
    """

    peak_memory: int | None
    cursor: str | None
    units: Units | None
    by: Holder


def succeed(
    job_id: int,
    attempt: int,
    stats: Stats,
    result_ttl: float | None,
    result_bytes: int | None = None,
    **end: Unpack[End],
) -> bool:
    """running -> success.

    result_ttl: seconds to keep the result; None: it was not kept.
    result_bytes: the size of the result.
    """
    applied = bool(prepared("succeed", id=job_id, attempt=attempt, **_success(stats, result_ttl, result_bytes, end)))
    if applied:
        log("succeed", job_id, attempt)
    return applied


def succeed_and_follow(
    job_id: int,
    attempt: int,
    stats: Stats,
    result_ttl: float | None,
    result_bytes: int | None = None,
    **end: Unpack[End],
) -> tuple[bool, Started | None]:
    """running -> success; and created -> running for the next job of the lane, if any, in this slot and process."""
    by, facts = end.get("by", ANY_HOLDER), _success(stats, result_ttl, result_bytes, end)
    answer = prepared("follow", id=job_id, attempt=attempt, default_timeout=default_timeout(), **facts)
    following = started(answer, by, by.since)
    if answer:
        log("succeed", job_id, attempt)
    if following is not None:
        log_follow(following)
    return bool(answer), following


def log_success(job: Started) -> None:
    """Log the success of an attempt, from outside its trace."""
    log("succeed", job.id, job.attempt, tenant=job.tenant_id, trace=traces.trace_of(job.trace_parent))


def log_follow(job: Started) -> None:
    """Log that this attempt follows in a slot: in its own trace, even if it has none, not in that of the job before."""
    log("follow", job.id, job.attempt, tenant=job.tenant_id, trace=traces.trace_of(job.trace_parent))


class Ending:
    """A success that is sent ahead of a pass, in the same pipeline, but in a durable transaction of its own.

    applied: whether the success was applied; None: it may not have been committed, so it has to be repeated.
    """

    def __init__(
        self, job: Started, stats: Stats, result_ttl: float | None, result_bytes: int | None, **end: Unpack[End]
    ) -> None:
        """running -> success. The parameters are those of `succeed`."""
        self.applied: bool | None = None
        self._ended: Answer | None = None
        self._committed: Answer | None = None
        self._job, self._facts = job, _success(stats, result_ttl, result_bytes, end)

    def send(self, pipe: Pipeline) -> None:
        """Add the success to a pipeline."""
        pipe.add("BEGIN ISOLATION LEVEL READ COMMITTED")
        self._ended = pipe.add(statement("succeed"), id=self._job.id, attempt=self._job.attempt, **self._facts)
        self._committed = pipe.add("COMMIT")

    def hear(self) -> None:
        """Read the answer, after the pipeline has ended, also by an error."""
        if self._ended is None or self._committed is None or self._committed.status != "COMMIT":
            return
        self.applied = self._ended.count > 0
        if self.applied:
            log_success(self._job)


def _success(stats: Stats, result_ttl: float | None, result_bytes: int | None, end: End) -> dict[str, Any]:
    return {"stats": json.dumps(stats), "result_ttl": result_ttl, "result_bytes": result_bytes, **_parameters(end)}


def _parameters(end: End) -> dict[str, Any]:
    facts = {"peak_memory": end.get("peak_memory"), "units": units_as_text(end.get("units")), "now": clock.moment()}
    return facts | end.get("by", ANY_HOLDER).charge()


def units_as_text(units: Units | None) -> str | None:
    return json.dumps(units) if units else None


def fail(job_id: int, attempt: int, failure: Failure, *, dead: bool = False, **end: Unpack[End]) -> bool:
    """running -> error, or -> dead (bury)."""
    error_key = failure.key if dead else None
    facts = failure.parameters() | {"dead": dead, "error_key": error_key}
    return _end("bury" if dead else "fail", job_id, attempt, end, by="fail", **facts)


def retry(
    job_id: int, attempt: int, failure: Failure, *, delay: float, queue: str | None = None, **end: Unpack[End]
) -> bool:
    """running -> scheduled after `delay` seconds, perhaps in another queue; not if a stop was requested."""
    when = {"delay": delay, "queue": queue, "retried": 1, "hold": None, "why": ""}
    return _end("retry", job_id, attempt, end, by="retry", **when, **failure.parameters())


def snooze(
    job_id: int,
    attempt: int,
    stats: Stats,
    *,
    delay: float,
    why: Failure | None = None,
    later: Later | None = None,
    **end: Unpack[End],
) -> bool:
    """running -> scheduled after `delay` seconds, which uses no retry; not if a stop was requested.

    why: what kept the job from running; None: the job asked for the delay.
    later: whether the job holds its lane or its queue until then, and its reason.
    """
    when = {"delay": delay, "queue": None, "retried": 0}
    hold = {"hold": later and later.hold, "why": later.why if later else ""}
    return _end(
        "snooze", job_id, attempt, end, by="retry", **when, **hold, **(why.parameters() if why else _no_failure(stats))
    )


def hand_back(job_id: int, attempt: int, why: HandBack, stats: Stats | None = None, **end: Unpack[End]) -> bool:
    """running -> created, at its old place in its lane; not if a stop was requested."""
    facts = {"why": why, "stats": None if stats is None else json.dumps(stats), "cursor": end.get("cursor")}
    ended = rows("hand_back", id=job_id, attempt=attempt, **facts, **_parameters(end))
    for _, _, times in ended:
        log("hand_back", job_id, attempt, why=str(why), times=times)
    return bool(ended)


def wait_for(job_id: int, attempt: int, wait: EventWait, stats: Stats | None = None, **end: Unpack[End]) -> bool:
    """running -> blocked, until the event comes; not if a stop was requested."""
    facts = {"event": wait.name, "patience": wait.seconds, "stats": None if stats is None else json.dumps(stats)}
    ended = rows("wait_for", id=job_id, attempt=attempt, cursor=end.get("cursor"), **facts, **_parameters(end))
    if ended:
        log("wait_for", job_id, attempt)
    return bool(ended)


def stop(
    job_id: int, attempt: int, stats: Stats | None = None, failure: Failure | None = None, **end: Unpack[End]
) -> bool:
    """running -> cancelled if a stop was requested.

    failure: the failure of the attempt, with stats of its own; None: the attempt did not fail.
    """
    facts = _no_failure(stats) if failure is None else failure.parameters()
    return _end("stop", job_id, attempt, end, by="stop", **facts)


def _no_failure(stats: Stats | None) -> dict[str, Any]:
    none = dict.fromkeys(("error_class", "error", "traceback"))
    return none | {"stats": None if stats is None else json.dumps(stats)}


def _end(verb: str, job_id: int, attempt: int, end: End, *, by: str, **facts: Any) -> bool:
    """End an attempt by a statement; return whether it applied.

    by: the name of the statement.
    """
    applied = bool(rows(by, id=job_id, attempt=attempt, cursor=end.get("cursor"), **facts, **_parameters(end)))
    if applied:
        error = facts.get("error_class")
        log(verb, job_id, attempt, **({"error": error} if error else {}))
    return applied


TAKEN_BACK = {Status.SCHEDULED: "take_back", Status.DEAD: "bury", Status.CANCELLED: "stop"}  # by the new status


def take_back(
    job_id: int,
    attempt: int,
    failure: Failure,
    max_crashes: int,
    *,
    seat: Seat = ANY_SEAT,
    forgiven: int = 0,
) -> Status | None:
    """queued or running -> scheduled after a crash; -> dead after `max_crashes`; -> cancelled if a stop was requested.

    seat: a seat of the process that died; attempts in other processes are left alone.
    forgiven: the number of failures of this class that do not count as crashes of a job.
    Return the new status; None if the statement did not apply, or the row is locked.
    """
    bounds = {"max_crashes": max_crashes, "forgiven": forgiven}
    facts = failure.parameters() | {"traceback": "", "error_key": failure.key} | bounds
    ended = rows("take_back", id=job_id, attempt=attempt, **facts, **seat.fence())
    if not ended:
        return None
    [(_, tenant_id, job_type, name, begun)] = ended
    status = Status(name)
    log(TAKEN_BACK[status], job_id, attempt, tenant=tenant_id, error=failure.error)
    if begun and status != Status.CANCELLED:
        facts = {"job": job_id, "attempt": attempt, "tenant": tenant_id, "type": job_type}
        facts |= {"error": failure.error_class, "because": failure.error}
        session().on_commit(partial(telemetry.failed, None, final=status == Status.DEAD, **facts))
    return status
