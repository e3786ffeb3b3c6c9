"""Execute the attempt of a message and, while time allows, the jobs that follow it without a message.

1. Start the attempt.
2. Run its body, clean up after it, keep its result.
3. Settle. The statement that records a success also starts the next job of the lane (queue and tenant) in the same
   slot, for a time slice (`engine/slices.py`). Then other lanes have their turn. No count changes: no door is needed.
4. Dispatch: fill the free slots. The process keeps one of the jobs claimed for its own pool and goes on with 1, until
   SLACK seconds after the message came. Then it takes the next message, which may have waited for it.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from django.db import DatabaseError, InterfaceError

from jobs import store, telemetry, traces
from jobs.engine import body, hands, strangers
from jobs.engine.dispatch import dispatch, dispatch_and_keep
from jobs.engine.host import Host
from jobs.engine.patience import patiently
from jobs.engine.settle import settle
from jobs.engine.slices import Slice
from jobs.store import Claimed, Keeper, Started

if TYPE_CHECKING:
    from opentelemetry.trace import Span

SLACK = 1.0  # seconds


def execute(job_id: int, attempt: int, host: Host) -> bool:
    """Run an attempt and the jobs that follow it. A duplicate or late message does nothing.

    Return False if this process must end, because a body left something that cannot be cleaned up. Raise the database's
    error if an outcome could not be stored for a minute; then the process must end, too: it still holds the attempt.
    """
    goes_on_until = time.monotonic() + SLACK
    clean = True
    with host.speaking():
        job = _start(job_id, attempt, host)
        while job is not None:
            last, clean = _run_slice(job, host)
            if clean and host.pool is not None and time.monotonic() < goes_on_until and not host.draining():
                job = _dispatch_and_keep(Keeper(host.pool, host.process), last, host)
            else:
                job = None
                host.seat.let_go()
                _dispatch()
    return clean


def _run_slice(job: Started, host: Host) -> tuple[Started, bool]:
    """Run jobs of one lane, one after the other; return the last one, and whether this process is still clean.

    The seat holds the last one still.
    """
    time_slice = Slice(host.waited_for_core)
    while True:
        with _told(job) as span:
            outcome = body.run(job, host)
            clean = hands.clean()
            if not clean:
                telemetry.noticed("process ends: a transaction was left open in it", job=job.id)
                job = replace(job, holder=replace(job.holder, lost=True))
            body.keep_result(job, outcome)
            if outcome.error is not None:
                traces.failed(span, outcome.error)
            follow = time_slice.has_room() and clean and host.pool is not None and not host.draining()
            following = settle(job, outcome, strangers.here(job, host), follow=follow)
            if following is None:
                return job, clean
            host.seat.hold(following.id, following.attempt)
            job = following


@contextmanager
def _told(job: Started) -> Iterator["Span"]:
    """Every log line of this attempt names it, and its spans belong to the trace that submitted it."""
    facts = {"job": job.id, "attempt": job.attempt, "tenant": job.tenant_id}
    of_span: dict[str, str | int] = {f"scheduler.{name}": value for name, value in facts.items()}
    of_span |= {"messaging.system": "scheduler", "messaging.destination.name": job.queue}
    name = f"{job.source_type}.{job.source_method}"
    with (
        traces.attempting(job.trace_parent, name, job.waited_since, of_span) as span,
        telemetry.about(**facts, **traces.trace_id()),
    ):
        yield span


def _start(job_id: int, attempt: int, host: Host) -> Started | None:
    """Start the attempt; None if the message is stale, or if the job's type was paused meanwhile: then put it off."""

    def start() -> Started | None:
        return store.start(job_id, attempt, host.worker)

    def start_unheard() -> Started | None:
        # In this order: a second start waits for a first one that the server is still executing; a read would not.
        return start() or store.holder(job_id, attempt, host.process)

    host.seat.hold(job_id, attempt)  # before the row says so
    job = patiently(start, again=start_unheard)
    if job is None and patiently(lambda: store.put_off(job_id, attempt)):
        host.seat.let_go()
        _dispatch()
        return None
    # Try again: if the type was resumed between the two, neither applied, and the job has no other message.
    job = job or patiently(start_unheard)
    if job is None:
        host.seat.let_go()
        telemetry.ignored("start", job_id, attempt, "not the present attempt, or its worker was declared gone")
    return job


def _dispatch_and_keep(keeper: Keeper, last: Started, host: Host) -> Started | None:
    """Dispatch, and return the started job that this process keeps. Before it knows which, its seat holds the last."""
    kept: Started | Claimed | None
    try:
        kept = dispatch_and_keep(keeper)
    except (DatabaseError, InterfaceError) as error:
        telemetry.noticed("dispatch failed", error=type(error).__name__)  # the clock makes up for it
        kept = patiently(lambda: store.running_in(keeper.process, last.start_time))  # the answer may be lost
    if isinstance(kept, Claimed):
        return _start(kept.id, kept.attempt, host)
    if kept is None:
        host.seat.let_go()
    else:
        host.seat.hold(kept.id, kept.attempt)
    return kept


def _dispatch() -> None:
    """Dispatch; the clock makes up for a failure."""
    try:
        dispatch()
    except (DatabaseError, InterfaceError) as error:
        telemetry.noticed("dispatch failed", error=type(error).__name__)
