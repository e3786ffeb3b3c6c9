"""The gates that hold a ready job now, by `jobs.allocation`. Each comes with its use and a sentence for people."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from jobs.allocation import gates
from jobs.allocation.gates import Gate, Pool, Queue, Tenant
from jobs.authoring.text import count_of_jobs
from jobs.reading.explain.reads import Facts


@dataclass(frozen=True)
class Blocker:
    """A closed gate. used, limit: its use. opens_at: the moment when it opens by itself, if known."""

    gate: Gate
    sentence: str
    used: int | None = None
    limit: int | None = None
    opens_at: datetime | None = None


def as_text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def closed(job: Facts) -> Iterator[Blocker]:
    """The closed gates of a job that waits or is due later."""
    if job.type_paused:
        yield Blocker(Gate.HELD, f"The job type {job.source_type} {job.source_method} is paused.")
    tenant = Tenant(
        id=job.tenant_id,
        num_slots=job.num_slots,
        in_use=job.tenant_in_use,
        paused=bool(job.tenant_paused),
        tokens=job.tenant_tokens,
        user_slots=job.user_slots,
        users={job.user_key: job.user_in_use},
    )
    queue = Queue(
        id=job.queue_id,
        concurrency=job.queue_concurrency,
        in_use=job.queue_in_use,
        paused=job.queue_paused,
        tokens=job.queue_tokens,
    )
    pool = Pool(job.pool, job.pool_capacity, job.pool_in_use)
    for gate in gates.closed(tenant, queue, pool, job.user_key):
        yield _blocker(gate, job)


def _blocker(gate: Gate, job: Facts) -> Blocker:
    if gate == Gate.TENANT_RATE:
        return _rate(gate, f"Tenant {job.tenant}", job.tenant_rate_limit, job.tenant_rate_window, job.tenant_token_at)
    if gate == Gate.QUEUE_RATE:
        return _rate(gate, f"Queue {job.queue}", job.queue_rate_limit, job.queue_rate_window, job.queue_token_at)
    sentence, used, limit = _uses(job)[gate]
    of = "" if limit is None or gate in {Gate.NO_SLOTS, Gate.NO_WORKER} else f": {used} of {limit}"
    return Blocker(gate, f"{sentence}{of}.", used, limit)


def _uses(job: Facts) -> dict[Gate, tuple[str, int | None, int | None]]:
    """What is said of each gate without tokens, its use and its limit."""
    which = "no slots: they were never set" if job.num_slots is None else "0 slots"
    user = f"User {job.user_key} has reached the slot limit of tenant {job.tenant} per user"
    return {
        Gate.TENANT_PAUSED: (f"Tenant {job.tenant} is paused", None, None),
        Gate.NO_SLOTS: (f"Tenant {job.tenant} has {which}", job.tenant_in_use, 0),
        Gate.SLOTS_FULL: (f"All slots of tenant {job.tenant} are in use{_borrowing(job)}", *_slots(job)),
        Gate.QUEUE_PAUSED: (f"Queue {job.queue} is paused", None, None),
        Gate.QUEUE_FULL: (
            f"Queue {job.queue} has reached its concurrency limit",
            job.queue_in_use,
            job.queue_concurrency,
        ),
        Gate.USER_FULL: (user, job.user_in_use, job.user_slots),
        Gate.NO_WORKER: (f"No live worker serves pool {job.pool}", job.pool_in_use, 0),
        Gate.POOL_FULL: (f"All processes of pool {job.pool} are in use", job.pool_in_use, job.pool_capacity),
    }


def _borrowing(job: Facts) -> str:
    """Why it does not borrow, if it may."""
    if (job.burst_slots or 0) <= (job.num_slots or 0):
        return ""
    if job.tenant_in_use >= (job.burst_slots or 0):
        return ", with all that it may borrow"
    if job.pool_in_use >= job.pool_capacity:
        return f", and no process of pool {job.pool} is idle"
    return f", and the idle processes of pool {job.pool} are for jobs of others"


def _slots(job: Facts) -> tuple[int, int | None]:
    """The use, and the limit: with borrowed ones if all of them are."""
    borrows = job.tenant_in_use > (job.num_slots or 0) and job.tenant_in_use >= (job.burst_slots or 0) > 0
    return job.tenant_in_use, job.burst_slots if borrows else job.num_slots


def _rate(gate: Gate, whose: str, limit: int | None, window: float | None, next_at: datetime | None) -> Blocker:
    then = "" if next_at is None else f" The next job may start at {as_text(next_at)}."
    sentence = f"{whose} has reached its rate limit of {count_of_jobs(limit or 0)} per {window or 0:g} s.{then}"
    return Blocker(gate, sentence, limit, limit, next_at)
