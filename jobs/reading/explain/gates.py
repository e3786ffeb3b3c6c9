"""The gates between a ready job and a worker. Each closed gate comes with a sentence for people."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from jobs.authoring.text import count_of_jobs
from jobs.reading.explain.reads import Facts


class Gate(StrEnum):
    """The reasons why a job waits. The values are stable: programs may compare them."""

    ENDED = "ended"  # final: no process moves it on
    RUNNING = "running"
    QUEUED = "queued"  # handed over; no worker has started it yet
    SCHEDULED = "scheduled"  # due later: a delay, or the backoff of a retry
    HELD = "held"  # its job type is paused
    TENANT_PAUSED = "tenant_paused"
    NO_SLOTS = "no_slots"  # the tenant has 0 slots, or its slots were never set
    SLOTS_FULL = "slots_full"
    QUEUE_PAUSED = "queue_paused"
    QUEUE_FULL = "queue_full"
    QUEUE_RATE = "queue_rate"
    TENANT_RATE = "tenant_rate"
    USER_FULL = "user_full"
    NO_WORKER = "no_worker"
    POOL_FULL = "pool_full"
    NEXT = "next"  # all gates are open: the next dispatch that reaches its place claims it


@dataclass(frozen=True)
class Blocker:
    """A closed gate. used, limit: its use. opens_at: the moment when it opens by itself, if known."""

    gate: Gate
    sentence: str
    used: int | None = None
    limit: int | None = None
    opens_at: datetime | None = None


def as_text(moment: datetime) -> str:
    """A moment for people."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def closed(job: Facts) -> Iterator[Blocker]:
    """The closed gates; the tenant's come first, since its owner can change them."""
    if job.type_paused:
        yield Blocker(Gate.HELD, f"The job type {job.source_type} {job.source_method} is paused.")
    yield from _slots(job)
    yield from _queue(job)
    yield from _rate(
        Gate.TENANT_RATE,
        f"Tenant {job.tenant}",
        (job.tenant_rate_limit, job.tenant_rate_window, job.tenant_tokens, job.tenant_token_at),
    )
    if job.user_key and job.user_slots is not None and job.user_held >= job.user_slots:
        yield Blocker(
            Gate.USER_FULL,
            f"User {job.user_key} has reached the slot limit of tenant {job.tenant} per user: "
            f"{job.user_held} of {job.user_slots}.",
            job.user_held,
            job.user_slots,
        )
    yield from _pool(job)


def _slots(job: Facts) -> Iterator[Blocker]:
    if job.tenant_paused:
        yield Blocker(Gate.TENANT_PAUSED, f"Tenant {job.tenant} is paused.")
    if not job.num_slots:
        which = "no slots: they were never set" if job.num_slots is None else "0 slots"
        yield Blocker(Gate.NO_SLOTS, f"Tenant {job.tenant} has {which}.", job.tenant_held, 0)
    elif job.tenant_held >= job.num_slots:
        yield Blocker(
            Gate.SLOTS_FULL,
            f"All slots of tenant {job.tenant} are in use: {job.tenant_held} of {job.num_slots}.",
            job.tenant_held,
            job.num_slots,
        )


def _queue(job: Facts) -> Iterator[Blocker]:
    if job.queue_paused:
        yield Blocker(Gate.QUEUE_PAUSED, f"Queue {job.queue} is paused.")
    if job.queue_concurrency is not None and job.queue_held >= job.queue_concurrency:
        yield Blocker(
            Gate.QUEUE_FULL,
            f"Queue {job.queue} has reached its concurrency limit: {job.queue_held} of {job.queue_concurrency}.",
            job.queue_held,
            job.queue_concurrency,
        )
    yield from _rate(
        Gate.QUEUE_RATE,
        f"Queue {job.queue}",
        (job.queue_rate_limit, job.queue_rate_window, job.queue_tokens, job.queue_token_at),
    )


Bucket = tuple[int | None, float | None, float | None, datetime | None]


def _rate(gate: Gate, whose: str, bucket: Bucket) -> Iterator[Blocker]:
    limit, window, tokens, next_at = bucket
    if limit is None or tokens is None or tokens >= 1:
        return
    then = "" if next_at is None else f" The next job may start at {as_text(next_at)}."
    sentence = f"{whose} has reached its rate limit of {count_of_jobs(limit)} per {window:g} s.{then}"
    yield Blocker(gate, sentence, limit, limit, next_at)


def _pool(job: Facts) -> Iterator[Blocker]:
    if job.pool_capacity == 0:
        yield Blocker(Gate.NO_WORKER, f"No live worker serves pool {job.pool}.", job.pool_held, 0)
    elif job.pool_held >= job.pool_capacity:
        yield Blocker(
            Gate.POOL_FULL,
            f"All processes of pool {job.pool} are in use: {job.pool_held} of {job.pool_capacity}.",
            job.pool_held,
            job.pool_capacity,
        )
