"""Explain: the gate that holds a job now, and its place in its lane. Only reads; the answer may soon be outdated."""

from dataclasses import dataclass
from datetime import datetime

from jobs.allocation.gates import Gate
from jobs.calls import gathering
from jobs.lifecycle import HOLDING, WAITING, Status
from jobs.reading.explain import statuses
from jobs.reading.explain.gates import Blocker, as_text, closed
from jobs.reading.explain.reads import (
    MAX_COUNTED_PLACE,
    JobFacts,
    LinePosition,
    facts,
    line,
    place_in_sequence,
    predecessors,
)
from jobs.reading.explain.sequences import in_sequence, stops
from jobs.reading.handed_back import in_words
from jobs.store import TenantId
from plumbing.bounds import is_id

__all__ = ["Explanation", "Gate", "explain"]
GOES_ON = {Status.CREATED, *HOLDING}


@dataclass(frozen=True)
class Explanation:
    """The reason for the state of a job, as of `now`. Moments are aware; fields that do not apply are None or empty.

    gate: the reason as a stable code.
    sentence: the reason for people.
    used, limit: the use of that gate, and its limit; for a retry, its number and the most.
    opens_at: when the gate opens by itself, such as at the due moment or the next token of a rate limit.
    since: when the job got its status.
    also: further closed gates.
    place: in its lane, from 1; MAX_COUNTED_PLACE + 1 stands for all places beyond.
    reason: why the job was cancelled without a request.
    calls: how many calls it has gathered; None if its type gathers none.
    stops: the sentence about the jobs that a dead one holds up in its sequence; empty if it stops none.
    goes_on: whether it has given its slot back, and goes on from its checkpoint.
    tenants, queues: the first few that wait for the same workers; for operators only, as a tenant learns of no other.
    """

    id: int
    status: Status
    gate: Gate
    sentence: str
    now: datetime
    used: int | None
    limit: int | None
    opens_at: datetime | None
    since: datetime | None
    also: tuple[Gate, ...]
    place: int | None
    reason: str | None
    calls: int | None
    stops: str
    goes_on: bool
    tenants: tuple[str, ...]
    queues: tuple[str, ...]


def explain(job_id: int, *, tenant_id: TenantId) -> Explanation | None:
    """Explain what holds a job now; None if there is no such job.

    tenant_id: the tenant that must own the job; EVERY_TENANT for an operator.
    """
    job = facts(job_id, tenant_id=tenant_id) if is_id(job_id) else None
    if job is None:
        return None
    standing = line(job_id) if job.status == Status.CREATED else None
    stopped, back = _stopped(job), _handed_back(job)
    blockers = _blockers(job, standing, stopped)
    calls = job.calls if job.calls is not None and gathering.is_gathered(job.source_type, job.source_method) else None
    return Explanation(
        id=job.id,
        status=Status(job.status),
        gate=blockers[0].gate,
        sentence=blockers[0].sentence + back + _so_far(job, calls) + _until(job),
        now=job.now,
        used=blockers[0].used,
        limit=blockers[0].limit,
        opens_at=blockers[0].opens_at,
        since=_since(job),
        also=tuple(blocker.gate for blocker in blockers[1:]),
        place=standing.place if standing else None,
        reason=job.reason,
        calls=calls,
        stops=stopped,
        goes_on=bool(back),
        tenants=tuple(standing.tenants) if standing else (),
        queues=tuple(standing.queues) if standing else (),
    )


def _so_far(job: JobFacts, calls: int | None) -> str:
    """Return the sentence that says what a waiting job has gathered; empty for another job."""
    if calls is None or Status(job.status) not in WAITING:
        return ""
    return f" It has gathered {'1 call' if calls == 1 else f'{calls:,} calls'}."


def _until(job: JobFacts) -> str:
    """Return the sentence that says until when a waiting job may start; empty without such a limit."""
    if job.expires_at is None or job.waits_for is not None or Status(job.status) not in WAITING:
        return ""
    return f" It is cancelled if it has not started by {as_text(job.expires_at)}."


def _handed_back(job: JobFacts) -> str:
    """Return the sentence about a job that gave its slot back, and goes on from there; empty for others."""
    why = in_words(job)
    return f" Handed back: {why}." if why and Status(job.status) in GOES_ON else ""


def _since(job: JobFacts) -> datetime | None:
    by_status = {
        Status.BLOCKED: job.blocked_at,
        Status.CREATED: job.ready_at,
        Status.QUEUED: job.queued_at,
        Status.RUNNING: job.start_time,
    }
    return by_status.get(Status(job.status), job.end_time)


def _blockers(job: JobFacts, standing: LinePosition | None, stopped: str) -> list[Blocker]:
    match job.status:
        case Status.CREATED:
            return list(closed(job)) or [_next(standing)]
        case Status.BLOCKED:
            return _blocked(job)
        case Status.SCHEDULED:
            return statuses.scheduled(job)
        case Status.QUEUED:
            return [statuses.queued(job)]
        case Status.RUNNING:
            return [statuses.running(job)]
        case _:
            return [statuses.ended(job, stopped)]


def _blocked(job: JobFacts) -> list[Blocker]:
    if job.waits_for is not None:
        return [statuses.waits_for_event(job)]
    others = predecessors(job.id)
    place = None if job.sequence is None else place_in_sequence(job.id)
    if place is None:
        return [statuses.blocked(others)]
    return [*([statuses.blocked(others)] if others else []), in_sequence(place)]


def _stopped(job: JobFacts) -> str:
    """Return the sentence about the jobs that a dead one holds up; empty if there are none."""
    if job.status != Status.DEAD or not job.sequence_stops or (place := place_in_sequence(job.id)) is None:
        return ""
    return stops(place)


def _next(standing: LinePosition | None) -> Blocker:
    if standing is None or standing.place == 1:
        return Blocker(Gate.NEXT, "Nothing blocks this job: it is first in its lane, and the next dispatch claims it.")
    place = (
        f"number {standing.place:,}"
        if standing.place <= MAX_COUNTED_PLACE
        else f"behind more than {MAX_COUNTED_PLACE:,} others"
    )
    return Blocker(Gate.NEXT, f"Nothing blocks this job: it is {place} in its lane, and the jobs before it go first.")
