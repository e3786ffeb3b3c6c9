"""The gates that hold a ready job now, by `jobs.allocation`. Each comes with its use and a sentence for people."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from jobs.allocation import gates
from jobs.allocation.gates import Gate
from jobs.allocation.state import LimitBook, Tenant
from jobs.reading.explain.reads import HeldBy, JobFacts
from plumbing.text import count_of_jobs


@dataclass(frozen=True)
class Blocker:
    """A closed gate.

    used, limit: its use, and its limit.
    opens_at: the moment when it opens by itself, if known.
    """

    gate: Gate
    sentence: str
    used: int | None = None
    limit: int | None = None
    opens_at: datetime | None = None


def as_text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def next_month(now: datetime) -> datetime:
    """Return the first moment of the next month, in UTC."""
    first = now.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (first + timedelta(days=31)).replace(day=1)


def closed(job: JobFacts) -> Iterator[Blocker]:
    """Yield the closed gates of a job that waits or is due later."""
    if job.type_paused:
        yield Blocker(Gate.HELD, f"The job type {job.source_type} {job.source_method} is paused.")
    for unit, used, amount in job.spent:
        ends = next_month(job.now)
        whose = f"Its tenant's budget of {unit} for {job.now:%B} is used up"
        opens = f"it opens on {ends.day} {ends:%B}, or when the budget is raised"
        numbers = "" if amount is None else f": {used:,} of {amount:,}"
        yield Blocker(Gate.BUDGET, f"{whose}{numbers}; {opens}.", used, amount, ends)
    for gate in gates.closed(job.lane, job.user_key):
        yield _blocker(gate, job)


def _blocker(gate: Gate, job: JobFacts) -> Blocker:
    if gate == Gate.TENANT_RATE:
        return _rate(gate, f"Tenant {job.tenant_name}", job.tenant, job.now)
    if gate == Gate.QUEUE_RATE:
        return _rate(gate, f"Queue {job.queue_name}", job.queue, job.now)
    if gate == Gate.LANE_HELD and job.lane_hold is not None:
        return _held(gate, "Held", job.lane_hold, job.now)
    if gate == Gate.QUEUE_HELD and job.queue_hold is not None:
        return _held(gate, "Its queue is held", job.queue_hold, job.now)
    sentence, used, limit = _uses(job)[gate]
    numbers = "" if limit is None or gate in {Gate.NO_SLOTS, Gate.NO_WORKER} else f": {used} of {limit}"
    return Blocker(gate, f"{sentence}{numbers}.", used, limit)


def _uses(job: JobFacts) -> dict[Gate, tuple[str, int | None, int | None]]:
    """Return the sentence, the use and the limit of each gate without tokens."""
    tenant, queue, pool = job.tenant, job.queue, job.queue.pool
    which = "no slots: they were never set" if tenant.num_slots is None else "0 slots"
    units = "seats" if job.pool_is_light else "processes"
    user = f"User {job.user_key} has reached the slot limit of tenant {job.tenant_name} per user"
    return {
        Gate.TENANT_PAUSED: (f"Tenant {job.tenant_name} is paused", None, None),
        Gate.NO_SLOTS: (f"Tenant {job.tenant_name} has {which}", tenant.in_use, 0),
        Gate.SLOTS_FULL: (
            f"All slots of tenant {job.tenant_name} are in use{_borrowing(job)}",
            *_slots(tenant),
        ),
        Gate.LANE_FULL: (
            f"Tenant {job.tenant_name} holds all slots that it may have in queue {job.queue_name}",
            job.lane.in_use,
            job.lane.slots,
        ),
        Gate.QUEUE_PAUSED: (f"Queue {job.queue_name} is paused", None, None),
        Gate.QUEUE_FULL: (f"Queue {job.queue_name} has reached its concurrency limit", queue.in_use, queue.concurrency),
        Gate.USER_FULL: (user, tenant.users.get(job.user_key), tenant.user_slots),
        Gate.NO_WORKER: (f"No live worker serves pool {pool.name}", pool.in_use, 0),
        Gate.POOL_FULL: (f"All {units} of pool {pool.name} are in use", pool.in_use, pool.processes),
    }


def _held(gate: Gate, what: str, by: HeldBy, now: datetime) -> Blocker:
    until = now + timedelta(seconds=by.seconds)
    job = "another job in it" if by.job_id is None else f"job {by.job_id}"
    why = f": {by.why}" if by.why else ""
    return Blocker(gate, f"{what} until {as_text(until)} by {job}{why}.", opens_at=until)


def _borrowing(job: JobFacts) -> str:
    """Return why the tenant does not borrow now; empty if it never may."""
    tenant, pool = job.tenant, job.queue.pool
    if (tenant.burst_slots or 0) <= (tenant.num_slots or 0):
        return ""
    if tenant.in_use >= (tenant.burst_slots or 0):
        return ", with all that it may borrow"
    if not pool.free:
        return f", and no {'seat' if job.pool_is_light else 'process'} of pool {pool.name} is idle"
    return f", and the idle {'seats' if job.pool_is_light else 'processes'} of pool {pool.name} are for jobs of others"


def _slots(tenant: Tenant) -> tuple[int, int | None]:
    """Return the slots in use, and their limit: with the borrowed ones if the tenant has borrowed all that it may."""
    borrows = tenant.in_use > (tenant.num_slots or 0) and tenant.in_use >= (tenant.burst_slots or 0) > 0
    return tenant.in_use, tenant.burst_slots if borrows else tenant.num_slots


def _rate(gate: Gate, whose: str, limits: LimitBook, now: datetime) -> Blocker:
    seconds = limits.next_at(limits.full_at)
    next_at = None if seconds is None else now + timedelta(seconds=seconds)
    then = "" if next_at is None else f" The next job may start at {as_text(next_at)}."
    limit, window = limits.rate_limit or 0, limits.rate_window or 0
    sentence = f"{whose} has reached its rate limit of {count_of_jobs(limit)} per {window:.15g} s.{then}"
    return Blocker(gate, sentence, limit, limit, next_at)
