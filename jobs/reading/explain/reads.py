"""The data for explain: a job with all its limits, and its place in its lane. Reads only."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from jobs.allocation.state import Lane, LineHold, Pool, Queue, Tenant
from jobs.models import ERASED
from jobs.reading.looking import reading_as_sets
from jobs.store.owner import TenantId, tenant_or_any
from jobs.store.rows import objects

Row = TypeVar("Row")

MAX_COUNTED_PLACE = 1_000  # the most jobs before it that are counted; beyond, its place is "more than 1,000"
MAX_LISTED_PLACE = 100  # the most for each job of a list
PROBES = 1_000  # the most users and tenants that are read
HOLDS = ("lane_hold", "queue_hold")
NAMES = 5  # the most competitors that are named
# As in the claim: no plan may depend on the age of a table's statistics.
PLANNER = (
    "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off;"
    " SET LOCAL jit = off"
)


@dataclass(frozen=True)
class HeldBy:
    """A job holds a lane or a queue.

    seconds: until it opens; below 0 if that is about to happen.
    job_id, why: the job and its reason; None and "" for a job of another tenant.
    """

    seconds: float
    job_id: int | None
    why: str


@dataclass(frozen=True)
class JobFacts:
    """A job and its limits at one moment. None means no limit; moments are aware."""

    id: int
    status: str
    attempt: int
    retries: int
    max_retries: int | None
    last_error: str
    user_key: str
    source_type: str
    source_method: str
    calls: int | None  # the length of its argument `calls`, if that is a list
    slot: int | None
    progress: float | None
    stopping: bool  # it is running and was asked to stop
    erased: bool  # its arguments were
    handed_back: int  # attempts of this series that gave their slot back
    handed_back_why: str  # the last one
    created_at: datetime
    due_at: datetime | None
    ready_at: datetime | None
    expires_at: datetime | None
    sequence: str | None
    sequence_stops: bool  # while it is dead, its sequence stands still
    reason: str | None  # of a cancellation without a request
    queued_at: datetime | None
    handed_at: datetime | None
    start_time: datetime | None
    end_time: datetime | None
    now: datetime
    last_attempt_failed: bool
    type_paused: bool
    spent: list[tuple[str, int, int | None]]  # unit, used, budget: those used up that it spends
    behind: int | None  # the running job that must end before it starts
    waits_for: str | None  # the event; once it is cancelled the one that it has waited for
    blocked_at: datetime | None
    worker: str | None
    default_max_retries: int | None
    default_backoff: float
    backoff_grows: bool
    tenant_name: str
    queue_name: str
    pool_is_light: bool
    lane_hold: HeldBy | None
    queue_hold: HeldBy | None
    lane: Lane  # the origin of the moments of its tenant and its queue is `now`

    @property
    def tenant(self) -> Tenant:
        """Its num_slots is None without a row in tenant_queues; users has only the job's."""
        return self.lane.tenant

    @property
    def queue(self) -> Queue:
        return self.lane.queue


@dataclass(frozen=True)
class LinePosition:
    """The place of a job in its lane, and its competitors.

    place: from 1; MAX_COUNTED_PLACE + 1 stands for all places beyond.
    tenants, queues: the first NAMES that wait for the same workers.
    """

    place: int
    tenants: list[str]
    queues: list[str]


@dataclass(frozen=True)
class Predecessor:
    """A job or a batch that a blocked job waits for.

    until: the end of the blocked job's patience, if the other ended without success.
    count: the number of all that it waits for.
    """

    id: int
    status: str
    until: datetime | None
    count: int


@dataclass(frozen=True)
class PlaceInSequence:
    """The place of a job among those of its sequence.

    turn_id, turn_status: the job whose turn it is, or the dead one that stops the others; None if there is none.
    older_id: the job that waits right before this one; None if none does.
    older, waiting: how many wait before this one, and in all; MAX_COUNTED_PLACE + 1 stands for all beyond.
    """

    name: str
    turn_id: int | None
    turn_status: str | None
    older_id: int | None
    older: int
    waiting: int


def facts(job_id: int, *, tenant_id: TenantId) -> JobFacts | None:
    """Return the job and its limits; None if this owner has no such job."""
    for row in _read(dict, "explain", id=job_id, tenant_id=tenant_or_any(tenant_id), erased=ERASED):
        tenant, queue, pool = (json.loads(row.pop(name)) for name in ("tenant", "queue", "pool"))
        of_lane, of_queue = (HeldBy(**json.loads(said)) if (said := row.pop(name)) else None for name in HOLDS)
        lane = Lane(Tenant(**tenant), Queue(**queue, pool=Pool(**pool)), in_use=row.pop("lane_in_use"))
        lane.queue.held = of_queue is not None
        if of_lane is not None:
            lane.holds.append(LineHold(of_lane.seconds))
        row["spent"] = json.loads(row["spent"] or "[]")
        return JobFacts(**row, lane=lane, lane_hold=of_lane, queue_hold=of_queue)
    return None


def line(job_id: int) -> LinePosition | None:
    """Return the place of a ready job; None if it does not wait in line, or no longer."""
    positions = _read(LinePosition, "explain_line", id=job_id, most=MAX_COUNTED_PLACE, probes=PROBES, names=NAMES)
    return positions[0] if positions else None


def predecessors(job_id: int) -> list[Predecessor]:
    """Return the first NAMES jobs that a blocked job still waits for."""
    return _read(Predecessor, "predecessors", id=job_id, most=NAMES)


def place_in_sequence(job_id: int) -> PlaceInSequence | None:
    """Return the place of a job in its sequence; None if it is in none."""
    found = _read(PlaceInSequence, "place_in_sequence", id=job_id, most=MAX_COUNTED_PLACE + 1)
    return found[0] if found else None


def places(job_ids: Sequence[int], *, tenant_id: int) -> dict[int, int]:
    """Return the places of those jobs of the tenant that are ready; MAX_LISTED_PLACE + 1 stands for all beyond."""
    rows = _read(dict, "places", ids=list(job_ids), tenant_id=tenant_id, most=MAX_LISTED_PLACE) if job_ids else []
    return {row["id"]: row["place"] for row in rows}


def _read(kind: type[Row], name: str, /, **parameters: Any) -> list[Row]:
    with reading_as_sets(PLANNER):
        return objects(kind, name, **parameters)
