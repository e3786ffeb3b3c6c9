"""Settle: how an attempt ended becomes what happens to its job. The policy decides, one guarded statement does it."""

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, connection

from jobs import registry, store, telemetry
from jobs.engine.deaths import announce
from jobs.policies.retry import CAP, Retry
from jobs.request import InvalidRequest
from jobs.store import Failure, Started
from jobs.verdicts import Abandon, Cancelled, RetryLater

SETTLE_PATIENCE = 60.0  # seconds for which an outcome waits for the database to come back
ERROR_LENGTH = 2_000  # characters of an error that are kept
TRACEBACK_LENGTH = 20_000  # characters, the last ones

Value = TypeVar("Value")


@dataclass
class Outcome:
    """How the body ended: with a value, or with an error."""

    value: Any = None
    error: BaseException | None = None
    stats: dict[str, Any] = field(default_factory=dict)
    result_ttl: float | None = None  # seconds its result is kept; None: it was not


def settle(job: Started, outcome: Outcome) -> None:
    """End the attempt: success, error, dead, cancelled, or scheduled for another try.

    Whatever the statement, a stale holder changes nothing. Raises the database's error after SETTLE_PATIENCE.
    """
    error = outcome.error
    if error is None:
        _apply(job, "succeed", lambda: store.succeed(job.id, job.attempt, outcome.stats, outcome.result_ttl))
    elif isinstance(error, Cancelled):
        _stop(job, outcome.stats)
    elif isinstance(error, RetryLater):
        delay = error.seconds
        if not _apply(job, "snooze", lambda: store.snooze(job.id, job.attempt, outcome.stats, delay=delay)):
            _stop(job, outcome.stats)
        else:
            store.wake_clock()
    else:
        _settle_failure(job, error, outcome.stats)


def _settle_failure(job: Started, error: BaseException, stats: dict[str, Any] | None) -> None:
    policy = policy_of(job)
    delay = None
    if policy is not None and not isinstance(error, Abandon):
        try:
            delay = policy.delay(error, job.retries, job.max_retries)
        except Exception as broken:  # the policy's own code; its error is the one to be seen
            broken.add_note(f"when asked for a retry after {type(error).__name__}: {error}")
            error = broken
    failure = as_failure(error, stats)
    if delay is not None and policy is not None:
        seconds, queue = delay, policy.queue
        if _apply(job, "retry", lambda: store.retry(job.id, job.attempt, failure, delay=seconds, queue=queue)):
            store.wake_clock()
        else:
            _stop(job, stats, failure)
    elif policy is None and not isinstance(error, Abandon):
        _apply(job, "fail", lambda: store.fail(job.id, job.attempt, failure))
    elif _apply(job, "bury", lambda: store.fail(job.id, job.attempt, failure, dead=True)):
        announce(job.id, job.attempt)


def _stop(job: Started, stats: dict[str, Any] | None, failure: Failure | None = None) -> None:
    """It was asked to stop, and has, perhaps by a failure. One that says so without having been asked has failed."""
    if not _apply(job, "stop", lambda: store.stop(job.id, job.attempt, stats, failure)):
        unasked = failure or Failure("Cancelled", "raised Cancelled, but nobody asked it to stop", stats=stats)
        _apply(job, "fail", lambda: store.fail(job.id, job.attempt, unasked))


def policy_of(job: Started) -> Retry | None:
    """The method's own policy; else that of its queue, or of the call, if they allow retries; else none."""
    try:
        own = registry.resolve(job.source_type, job.source_method).spec.retry
    except InvalidRequest:  # the method is no longer there
        own = None
    if own is not None:
        return own
    allowed = job.default_max_retries if job.max_retries is None else job.max_retries
    base = job.default_backoff
    return None if allowed is None else Retry.exponential(max_retries=allowed, base=base, cap=max(base, CAP))


def as_failure(error: BaseException, stats: dict[str, Any] | None = None) -> Failure:
    """What is kept of an error."""
    return Failure(
        type(error).__name__,
        _printable(str(error))[:ERROR_LENGTH],
        _printable("".join(traceback.format_exception(error)))[-TRACEBACK_LENGTH:],
        stats,
    )


def _apply(job: Started, verb: str, statement: Callable[[], bool]) -> bool:
    applied = _patiently(statement)
    (telemetry.applied if applied else telemetry.ignored)(verb, job.id, job.attempt)
    return applied


def _patiently(statement: Callable[[], Value]) -> Value:
    """Run a statement, again and again while the database is away: what was computed must not be lost to its restart.

    Safe to repeat: each is fenced, and applies once.
    """
    give_up = time.monotonic() + SETTLE_PATIENCE
    pause = 0.05
    while True:
        try:
            return statement()
        except (OperationalError, InterfaceError):
            if time.monotonic() > give_up:
                raise
            connection.close()
            time.sleep(pause)
            pause = min(pause * 2, 2.0)


def _printable(text: str) -> str:
    """Without what PostgreSQL's text cannot hold."""
    return text.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()
