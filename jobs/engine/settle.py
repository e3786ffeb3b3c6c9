"""Settle: how an attempt ended becomes what happens to its job. The policy decides, one guarded statement does it."""

import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

from jobs import registry, store, telemetry
from jobs.arguments import storable
from jobs.engine.body import Outcome
from jobs.engine.deaths import announce
from jobs.engine.patience import patiently
from jobs.policies.retry import CAP, Retry
from jobs.request import InvalidRequest
from jobs.store import Failure, Started
from jobs.verdicts import Abandon, Cancelled, RetryLater

ERROR_LENGTH = 2_000  # characters of an error that are kept
TRACEBACK_LENGTH = 20_000  # characters, the last ones


def settle(job: Started, outcome: Outcome, *, follow: bool = False) -> Started | None:
    """End the attempt: success, error, dead, cancelled, or scheduled for another try.

    follow: after a success the next job of the lane is started in this process; it is returned, if there is one.
    Whatever the statement, a stale holder changes nothing. Raises the database's error when its patience ends.
    """
    error = outcome.error
    if error is None:
        return _succeed(job, outcome, follow=follow)
    if isinstance(error, Cancelled):
        _stop(job, outcome.stats)
    elif isinstance(error, RetryLater):
        if not _apply(job, "snooze", partial(store.snooze, stats=outcome.stats, delay=error.seconds)):
            _stop(job, outcome.stats)
        else:
            store.wake_clock()
    else:
        _settle_failure(job, error, outcome.stats)
    return None


def _succeed(job: Started, outcome: Outcome, *, follow: bool) -> Started | None:
    result = (outcome.stats, outcome.result_ttl, outcome.result_bytes)
    if not follow:
        _apply(job, "succeed", lambda job_id, attempt, by: store.succeed(job_id, attempt, *result, by=by))
        return None

    def succeed() -> tuple[bool, Started | None]:
        return store.succeed_and_follow(job.id, job.attempt, *result, by=job.holder)

    def succeeded_unheard() -> tuple[bool, Started | None]:
        applied, following = succeed()
        return applied, following or store.held(job.holder)

    applied, following = patiently(succeed, again=succeeded_unheard)
    _tell(job, "succeed", applied=applied)
    if following is not None:
        telemetry.applied("follow", following.id, following.attempt)
    return following


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
    kind = failure.error_class
    if delay is not None and policy is not None:
        if _apply(job, "retry", partial(store.retry, failure=failure, delay=delay, queue=policy.queue), error=kind):
            store.wake_clock()
        else:
            _stop(job, stats, failure)
    elif policy is None and not isinstance(error, Abandon):
        _apply(job, "fail", partial(store.fail, failure=failure), error=kind)
    elif _apply(job, "bury", partial(store.fail, failure=failure, dead=True), error=kind):
        announce(job.id, job.attempt)


def _stop(job: Started, stats: dict[str, Any] | None, failure: Failure | None = None) -> None:
    """It was asked to stop, and has, perhaps by a failure. One that says so without having been asked has failed."""
    if not _apply(job, "stop", partial(store.stop, stats=stats, failure=failure)):
        unasked = failure or Failure("Cancelled", "raised Cancelled, but nobody asked it to stop", stats=stats)
        _apply(job, "fail", partial(store.fail, failure=unasked), error=unasked.error_class)


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
        storable(_text_of(error))[:ERROR_LENGTH],
        storable("".join(traceback.format_exception(error)))[-TRACEBACK_LENGTH:],
        stats,
    )


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException as broken:  # it is a stranger's
        return f"(its text cannot be had: {type(broken).__name__})"


def _apply(job: Started, verb: str, statement: Callable[..., bool], **facts: object) -> bool:
    applied = patiently(lambda: statement(job.id, job.attempt, by=job.holder))
    _tell(job, verb, applied=applied, **facts)
    return applied


def _tell(job: Started, verb: str, *, applied: bool, **facts: object) -> None:
    if applied:
        telemetry.applied(verb, job.id, job.attempt, **facts)
    else:
        telemetry.ignored(verb, job.id, job.attempt)
