"""Execute the attempt of a message and, while time allows, the jobs that follow it without a message.

1. Start the attempt.
2. Run its body, clean up after it, keep its result.
3. Settle. The statement that records a success also starts the next job of the lane (queue and tenant) in the slot.
   After a time slice (`engine/attempt/slices.py`) other lanes have their turn. The slot stays in use, so the door
   is not needed.
4. Dispatch: fill the free slots. The process keeps one of the jobs claimed for its own pool and goes on with 2, until
   SLACK seconds after the message came. Then it takes the next message, which may have waited for it. The
   settling of a success, the dispatch, and the start of the job that the process keeps are sent in one round trip.
   If this process has to end, its parent dispatches.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.db import DatabaseError, InterfaceError

from jobs import store, telemetry
from jobs.engine.attempt import body, process_state, session_reset
from jobs.engine.attempt.outcome import Outcome
from jobs.engine.attempt.settle import settle
from jobs.engine.attempt.slices import Slice
from jobs.engine.door.dispatch import dispatch, dispatch_and_keep
from jobs.engine.process.host import AttemptHost
from jobs.engine.process.patience import patiently
from jobs.engine.process.user_code import Here
from jobs.store import Claimed, Keeper, Started, results
from jobs.telemetry import traces

if TYPE_CHECKING:
    from opentelemetry.trace import Span

SLACK = 1.0  # seconds
NOT_OURS = "not the present attempt, its worker was declared gone, or another installation uses this broker"


@dataclass(frozen=True)
class _Last:
    """The last job of a slice, which the process still holds.

    clean: whether the process may run another body after it.
    success: the outcome that is still to be settled, together with the dispatch; None: it is settled.
    """

    job: Started
    clean: bool
    success: Outcome | None = None


def execute(job_id: int, attempt: int, host: AttemptHost) -> bool:
    """Run an attempt and the jobs that follow it. A duplicate or late message does nothing.

    Return False if this process must end, because a body left something that cannot be cleaned up. Raise the database's
    error if an outcome could not be stored for a minute; then the process must end, too: it still holds the attempt.
    """
    goes_on_until = time.monotonic() + SLACK
    last = None
    with host.process.own_session():
        job = _start(job_id, attempt, host)
        while job is not None:
            last = _run_slice(job, host)
            if last.clean:
                goes_on = time.monotonic() < goes_on_until
                job = _dispatch_and_keep(_keeper(host) if goes_on else None, last, host)
            else:  # it ends, and messages that it has not sent in time would be lost with it
                job = None
                host.let_go()
    return last is None or last.clean


def _run_slice(job: Started, host: AttemptHost) -> _Last:
    """Run jobs of one lane, one after the other."""
    time_slice = Slice(host.process.waited_for_core)
    following: Started | None = job
    while following is not None:
        job = following
        with attempt_context(job) as span:
            outcome = body.run(job, host)
            clean = _keep_result_and_clean(job, outcome, host)
            if not clean:
                job = replace(job, holder=replace(job.holder, lost=True))
            outcome.keep_log(job)
            if outcome.error is not None:
                if outcome.has_failed:
                    traces.failed(span, outcome.error)
                return _Last(job, _fail(job, outcome, host))
            if outcome.has_ended:
                return _Last(job, clean)
            has_room, goes_on = time_slice.has_room(), clean and _keeper(host) is not None
            if goes_on and not has_room:
                return _Last(job, clean, outcome)
            following = settle(job, outcome, Here(job, host), follow=goes_on and has_room)
            if following is not None:
                host.hold(following.id, following.attempt)
    return _Last(job, clean)


def _fail(job: Started, outcome: Outcome, host: AttemptHost) -> bool:
    """Settle a failure, which asks more of its author's code. Return whether this process may run another body."""
    with process_state.as_it_was() as refusals:
        settle(job, outcome, Here(job, host))
    return not job.holder.lost and _is_clean(job, refusals, host)


def _keep_result_and_clean(job: Started, outcome: Outcome, host: AttemptHost) -> bool:
    """Do both at the same time, if the cache is no part of the sessions: each is a trip. Return as `_is_clean`."""
    if not results.is_apart():
        outcome.keep_result(job)
        return _is_clean(job, outcome.refusals, host, outcome.left)
    notices: list[Callable[[], None]] = []  # a log handler may need the sessions

    def notice(what: str, **facts: object) -> None:
        notices.append(lambda: telemetry.noticed(what, **facts))

    clean = _is_clean(job, outcome.refusals, host, outcome.left, meanwhile=lambda: outcome.keep_result(job, notice))
    for tell in notices:
        tell()
    return clean


def _is_clean(
    job: Started,
    refusals: Sequence[Exception],
    host: AttemptHost,
    tasks: Sequence[str] = (),
    meanwhile: Callable[[], object] = lambda: None,
) -> bool:
    """Clean the sessions of user code. Return whether this process may run another body.

    tasks: the names of those that did not end.
    meanwhile: is called while the servers clean.
    """
    left, cleaned = host.process.end_threads() or ", ".join(tasks), session_reset.clean(meanwhile)
    if left:
        telemetry.noticed("process ends: what a body has started still runs", job=job.id, left=left)
    elif not cleaned:
        telemetry.noticed("process ends: a transaction was left open in it", job=job.id)
    elif refusals:
        why = str(refusals[0])
        telemetry.noticed("process ends: what a body changed of it cannot be put back", job=job.id, because=why)
    else:
        return True
    return False


def _keeper(host: AttemptHost) -> Keeper | None:
    """Return this seat as a keeper; None if it may not go on with a job without a message."""
    process = host.process
    return None if process.pool is None or process.is_draining() else Keeper(process.pool, host.seat)


@contextmanager
def attempt_context(job: Started) -> Iterator["Span"]:
    """Name the attempt in each log line inside the block, and add its spans to the trace that submitted it."""
    facts = {"job": job.id, "attempt": job.attempt, "tenant": job.tenant_id}
    span_facts: dict[str, str | int] = {f"scheduler.{name}": value for name, value in facts.items()}
    span_facts |= {"messaging.system": "scheduler", "messaging.destination.name": job.queue}
    name = f"{job.source_type}.{job.source_method}"
    with (
        traces.attempting(job.trace_parent, name, job.waited_since, span_facts) as span,
        telemetry.about(**facts, **traces.trace_id()),
    ):
        yield span


def _start(job_id: int, attempt: int, host: AttemptHost) -> Started | None:
    """Start the attempt and return it; None if this process has nothing to run.

    The message may be stale. If the job's type was paused meanwhile, put the job off; if the job has expired, turn it
    away.
    """

    def start() -> Started | None:
        return store.start(job_id, attempt, host.seat)

    def start_again() -> Started | None:
        # In this order: a second start waits for a first one that the server is still executing; a read would not.
        return start() or store.still_running(job_id, attempt, host.seat)

    host.hold(job_id, attempt)  # before the row says so
    job = patiently(start, again=start_again)
    if job is None and patiently(lambda: store.put_off(job_id, attempt) or store.turn_away(job_id, attempt)):
        host.let_go()
        _dispatch()
        return None
    # Try again: if the type was resumed between the two, neither applied, and the job has no other message.
    job = job or patiently(start_again)
    if job is None:
        host.let_go()
        telemetry.ignored("start", job_id, attempt, NOT_OURS)
    return job


def _dispatch_and_keep(keeper: Keeper | None, last: _Last, host: AttemptHost) -> Started | None:
    """Settle and dispatch in one trip, and return the started job that this process keeps.

    Until the process knows which job that is, it still holds the last one.

    keeper: this seat; None: it keeps no job.
    """
    kept: Started | Claimed | None = None
    success = None if last.success is None else last.success.as_ending(last.job)
    if keeper is None and success is None:
        host.let_go()
    try:
        kept = dispatch_and_keep(keeper, success)
    except (DatabaseError, InterfaceError) as error:
        telemetry.noticed("dispatch failed", error=type(error).__name__)  # the clock makes up for it
        unsettled = success is not None and success.applied is None
        if unsettled:
            _settle(last, host)
        if keeper is not None:
            kept = patiently(lambda: store.running_in(keeper.seat, last.job.start_time))  # the answer may be lost
        if unsettled and kept is None:
            return _dispatch_and_keep(keeper, replace(last, success=None), host)
    if success is not None and success.applied is False:
        telemetry.ignored("succeed", last.job.id, last.job.attempt)
    if isinstance(kept, Claimed):
        return _start(kept.id, kept.attempt, host)
    if kept is None:
        host.let_go()
    else:
        host.hold(kept.id, kept.attempt)
    return kept


def _settle(last: _Last, host: AttemptHost) -> None:
    if last.success is not None:
        with telemetry.about(tenant=last.job.tenant_id):
            settle(last.job, last.success, Here(last.job, host))


def _dispatch() -> None:
    """Dispatch; the clock makes up for a failure."""
    try:
        dispatch()
    except (DatabaseError, InterfaceError) as error:
        telemetry.noticed("dispatch failed", error=type(error).__name__)
