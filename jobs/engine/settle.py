"""Settle: how an attempt ended becomes what happens to its job. The policy decides, one guarded statement does it.

A verdict has verbs to try, in order: a job that was asked to stop is stopped instead of being retried or snoozed, and
one that says it has stopped, although nobody had asked, has failed.
"""

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from jobs import store, telemetry
from jobs.authoring.exceptions import Abandon, Cancelled, RetryLater
from jobs.deaths.announce import announce
from jobs.engine.body import Outcome
from jobs.engine.patience import patiently
from jobs.engine.policy import policy_of
from jobs.store import Failure, Started
from jobs.text import storable

ERROR_LENGTH = 2_000  # characters of an error that are kept
TRACEBACK_LENGTH = 20_000  # characters, the last ones
UNASKED = "raised Cancelled, but nobody asked it to stop"

TRIES: Mapping[str, tuple[str, ...]] = {
    "fail": ("fail",),
    "bury": ("bury",),
    "retry": ("retry", "stop"),
    "snooze": ("snooze", "stop"),
    "stop": ("stop", "fail"),
}


@dataclass(frozen=True)
class Verdict:
    """What is to happen to a job whose attempt did not succeed. verb: of TRIES. delay: seconds, for another try."""

    verb: str
    stats: dict[str, Any] | None
    failure: Failure | None = None  # None: it did not end badly
    delay: float = 0
    queue: str | None = None


def settle(job: Started, outcome: Outcome, *, follow: bool = False) -> Started | None:
    """End the attempt: success, error, dead, cancelled, or scheduled for another try.

    follow: after a success the next job of the lane is started in this process; it is returned, if there is one.
    Whatever the statement, a stale holder changes nothing. Raises the database's error when its patience ends.
    """
    if outcome.error is None:
        return _succeed(job, outcome, follow=follow)
    verdict = judge(job, outcome.error, outcome.stats)
    for verb in TRIES[verdict.verb]:
        if patiently(partial(_apply, verb, job, verdict)):
            _follow_up(verb, job)
            return None
        telemetry.ignored(verb, job.id, job.attempt)
    return None


def judge(job: Started, error: BaseException, stats: dict[str, Any] | None) -> Verdict:
    """What the job's policy says of this error."""
    if isinstance(error, Cancelled):
        return Verdict("stop", stats)
    if isinstance(error, RetryLater):
        return Verdict("snooze", stats, delay=error.seconds)
    policy = policy_of(job)
    delay = None
    if policy is not None and not isinstance(error, Abandon):
        try:
            delay = policy.delay(error, job.retries, job.max_retries)
        except Exception as broken:  # the policy's own code; its error is the one to be seen
            broken.add_note(f"when asked for a retry after {type(error).__name__}: {error}")
            error = broken
    failure = as_failure(error, stats)
    if policy is not None and delay is not None:
        return Verdict("retry", stats, failure, delay, policy.queue)
    if policy is None and not isinstance(error, Abandon):
        return Verdict("fail", stats, failure)
    return Verdict("bury", stats, failure)


def _apply(verb: str, job: Started, verdict: Verdict) -> bool:
    failure = verdict.failure or Failure("Cancelled", UNASKED, stats=verdict.stats)
    match verb:
        case "retry":
            return store.retry(job.id, job.attempt, failure, by=job.holder, delay=verdict.delay, queue=verdict.queue)
        case "snooze":
            return store.snooze(job.id, job.attempt, verdict.stats or {}, by=job.holder, delay=verdict.delay)
        case "stop":
            return store.stop(job.id, job.attempt, verdict.stats, verdict.failure, by=job.holder)
        case _:
            return store.fail(job.id, job.attempt, failure, dead=verb == "bury", by=job.holder)


def _follow_up(verb: str, job: Started) -> None:
    if verb in ("retry", "snooze"):
        store.wake_clock()
    elif verb == "bury":
        announce(job.id, job.attempt)


def _succeed(job: Started, outcome: Outcome, *, follow: bool) -> Started | None:
    call = (job.id, job.attempt, outcome.stats, outcome.result_ttl, outcome.result_bytes)
    following = None

    def succeed() -> tuple[bool, Started | None]:
        return store.succeed_and_follow(*call, by=job.holder)

    def succeed_unheard() -> tuple[bool, Started | None]:
        applied, following = succeed()
        return applied, following or store.running_in(job.holder)

    if follow:
        applied, following = patiently(succeed, again=succeed_unheard)
    else:
        applied = patiently(lambda: store.succeed(*call, by=job.holder))
    if not applied:
        telemetry.ignored("succeed", job.id, job.attempt)
    return following


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
