"""Settle: turn the outcome of an attempt into the next status of its job.

The policy decides; one guarded statement applies the decision. A verdict has a list of verbs to try in order: `stop`
replaces a retry, a snooze, a hand back or a wait for an event if the job was asked to stop; `fail` replaces `stop` if
it was not.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.db import DataError

from jobs import store, telemetry
from jobs.authoring.exceptions import Abandon, Cancelled, EventWait, Later, RetryLater, WaitFor, wish_of
from jobs.authoring.groups import means
from jobs.calls import registry
from jobs.calls.refusals import InvalidRequest
from jobs.conf import settings
from jobs.engine.attempt.body import SourceGone, UnknownJobType
from jobs.engine.attempt.failures import as_failure, without_text
from jobs.engine.attempt.outcome import Outcome
from jobs.engine.attempt.policy import policy_of
from jobs.engine.attempt.unknown import as_refusal, delay_until_known
from jobs.engine.deaths.announce import announce
from jobs.engine.process.patience import patiently
from jobs.engine.process.user_code import Ask
from jobs.lifecycle import HandBack
from jobs.store import End, Failure, Started
from plumbing.text import in_one_line, storable

MOST_OF_A_REASON = 200  # characters
UNASKED = "raised Cancelled, but was not asked to stop"

TRIES: Mapping[str, tuple[str, ...]] = {
    "fail": ("fail",),
    "bury": ("bury",),
    "retry": ("retry", "stop"),
    "snooze": ("snooze", "stop"),
    "hand_back": ("hand_back", "stop"),
    "wait_for": ("wait_for", "stop"),
    "stop": ("stop", "fail"),
}


@dataclass(frozen=True)
class Verdict:
    """The decision about a job whose attempt did not succeed.

    verb: a key of TRIES.
    error: the error for the log; None: it cannot be read.
    delay: seconds until the next try.
    why: why the attempt was handed back.
    cursor: that of the body's last checkpoint, as JSON; None: as it is stored.
    later: what the body asked for: it may hold its line; None: it did not ask.
    wait: the event that the next attempt waits for, and how long; None: it waits for none.
    """

    verb: str
    stats: dict[str, Any] | None
    failure: Failure | None = None  # None: the attempt did not fail
    error: BaseException | None = None
    delay: float = 0
    queue: str | None = None
    why: HandBack | None = None
    cursor: str | None = None
    later: Later | None = None
    wait: EventWait | None = None

    @property
    def told(self) -> Failure:
        return self.failure or Failure("Cancelled", UNASKED, stats=self.stats)


def settle(job: Started, outcome: Outcome, ask: Ask, *, follow: bool = False) -> Started | None:
    """End the attempt: success, error, dead, cancelled, or scheduled for another try.

    ask: asks user code: the retry policy, the receivers of `job_died`, the handlers of the log and the failure hook.
    follow: after a success, start the next job of the lane in this process, and return it if there is one.
    A stale holder changes nothing. Raises the database's error if `patiently` gives up.
    """
    try:
        if outcome.error is None:
            return _succeed(job, outcome, follow=follow)
        verdict = _hand_back(outcome, outcome.error) or judge(job, outcome.error, outcome.stats, ask)
        _end(job, replace(verdict, cursor=outcome.cursor), outcome, ask)
    except DataError as error:  # PostgreSQL cannot store a part of it; without an end the body would run again
        telemetry.noticed("outcome refused", job=job.id)
        verdict = Verdict("fail" if policy_of(job) is None else "bury", None, as_failure(error), error)
        _end(job, verdict, outcome, ask)
    return None


def _end(job: Started, verdict: Verdict, outcome: Outcome, ask: Ask) -> None:
    for tried in TRIES[verdict.verb]:
        # It stops its sequence only as a dead letter, where people find it: to revive it, or to discard it.
        verb = "bury" if job.stops_sequence and tried == "fail" else tried
        if patiently(partial(_apply, verb, job, verdict, outcome.end_of(job))):
            _tell(verb, job, verdict, ask)
            _follow_up(verb, job, ask)
            if outcome.tell and (error := ask(partial(outcome.tell, verb)).error) is not None:
                telemetry.noticed("failure hook failed", job=job.id, error=type(error).__name__)
            return
    telemetry.ignored(verdict.verb, job.id, job.attempt)


def _hand_back(outcome: Outcome, error: BaseException) -> Verdict | None:
    """Return the decision to hand the attempt back; None: its body has not ended for that."""
    why = outcome.handed_back
    return Verdict("hand_back", outcome.stats, error=error, why=why) if why else None


def judge(job: Started, error: BaseException, stats: dict[str, Any] | None, ask: Ask) -> Verdict:
    """Return the decision of the job's policy about this error."""
    if means(error, Cancelled):
        return Verdict("stop", stats, error=error)
    if isinstance(error, UnknownJobType):
        delay, refusal = delay_until_known(job), as_refusal(error)
        if delay is not None:
            return Verdict("snooze", stats, as_failure(error), delay=delay)
        error = refusal
    first = None
    if means(error, RetryLater) or means(error, WaitFor):
        asked = ask(partial(_wish, job, error, stats))
        if asked.error is None:
            granted: Verdict = asked.value
            return granted
        error, first = asked.error, error  # a class of its author's own, which fails; or it may not have that
    policy = None if isinstance(error, SourceGone) else policy_of(job)  # no retry brings a row back
    delay = None
    abandoned = means(error, Abandon)
    if policy is not None and not abandoned:
        asked = ask(partial(policy.delay, error, job.retries, job.max_retries))
        delay = asked.value
        if asked.error is not None:  # a custom policy failed: show its error
            error, first = asked.error, error
    kept = ask(partial(as_failure, error, stats, first))
    failure = kept.value if kept.error is None else without_text(error, stats, kept.error)
    readable = error if kept.error is None else None
    if policy is not None and delay is not None:
        return Verdict("retry", stats, failure, readable, delay, policy.queue)
    if policy is None and not abandoned:
        return Verdict("fail", stats, failure, readable)
    return Verdict("bury", stats, failure, readable)


def _wish(job: Started, error: BaseException, stats: dict[str, Any] | None) -> Verdict:
    """Return what the error asks for. Raises ValueError for what this job may not have."""
    wish = wish_of(error)
    if isinstance(wish, EventWait):
        _refuse_known_event(job, wish)
        return Verdict("wait_for", stats, wait=wish)
    later = _later(job, wish)
    return Verdict("snooze", stats, delay=later.seconds, later=later)


def _later(job: Started, later: Later) -> Later:
    """Return what RetryLater asks for: with a hold that is not too long, and a reason that fits in a line."""
    if later.hold == "queue" and not _may_hold_queue(job):
        raise ValueError(
            f'RetryLater(hold="queue") stops the jobs of all tenants: mark {job.source_type}.{job.source_method} with'
            ' @job(may_hold="queue"), or say hold="tenant" for the jobs of its tenant'
        )
    seconds = later.seconds
    if later.hold is not None and seconds > settings.JOBS_LONGEST_HOLD:
        telemetry.noticed("hold cut", job=job.id, seconds=settings.JOBS_LONGEST_HOLD, asked=seconds)
        seconds = settings.JOBS_LONGEST_HOLD
    return Later(seconds, later.hold, in_one_line(storable(later.why))[:MOST_OF_A_REASON])


def _refuse_known_event(job: Started, wait: EventWait) -> None:
    if job.event is not None and json.loads(job.event)["name"] == wait.name:
        raise ValueError(
            f"WaitFor: the event {wait.name} has come, and this attempt has it: read current_job().event before you"
            " wait. An event that comes several times needs a name for each time"
        )


def _may_hold_queue(job: Started) -> bool:
    try:
        return registry.resolve(job.source_type, job.source_method).spec.may_hold == "queue"
    except InvalidRequest:  # the method no longer exists
        return False


def _apply(verb: str, job: Started, verdict: Verdict, facts: End) -> bool:
    end: End = {**facts, "cursor": verdict.cursor}
    match verb:
        case "hand_back" if verdict.why is not None:
            return store.hand_back(job.id, job.attempt, verdict.why, verdict.stats, **end)
        case "wait_for" if verdict.wait is not None:
            return store.wait_for(job.id, job.attempt, verdict.wait, verdict.stats, **end)
        case "retry":
            return store.retry(job.id, job.attempt, verdict.told, delay=verdict.delay, queue=verdict.queue, **end)
        case "snooze":
            stats, why = verdict.stats or {}, verdict.failure
            return store.snooze(job.id, job.attempt, stats, delay=verdict.delay, why=why, later=verdict.later, **end)
        case "stop":
            return store.stop(job.id, job.attempt, verdict.stats, verdict.failure, **end)
        case _:
            return store.fail(job.id, job.attempt, verdict.told, dead=verb == "bury", **end)


def _tell(verb: str, job: Started, verdict: Verdict, ask: Ask) -> None:
    """Log a failure. The handlers of the log read the error, and perhaps variables: that is user code."""
    if verb not in ("fail", "bury", "retry"):
        return
    tell = partial(
        telemetry.failed,
        final=verb != "retry",
        job=job.id,
        attempt=job.attempt,
        tenant=job.tenant_id,
        type=f"{job.source_type}.{job.source_method}",
        error=verdict.told.error_class,
    )
    if ask(partial(tell, verdict.error)).error is not None:
        tell(None)


def _follow_up(verb: str, job: Started, ask: Ask) -> None:
    if verb in ("retry", "snooze", "wait_for"):
        store.wake_clock()
    elif verb == "bury" and (error := ask(partial(announce, job.id, job.attempt)).error) is not None:
        telemetry.noticed("death not announced", job=job.id, error=type(error).__name__)


def _succeed(job: Started, outcome: Outcome, *, follow: bool) -> Started | None:
    call = (job.id, job.attempt, outcome.stats, outcome.result_ttl, outcome.result_bytes)
    end = outcome.end_of(job)
    following = None

    def succeed() -> tuple[bool, Started | None]:
        return store.succeed_and_follow(*call, **end)

    def succeed_again() -> tuple[bool, Started | None]:
        applied, following = succeed()
        return applied, following or store.running_in(job.holder, job.start_time)

    if follow:
        applied, following = patiently(succeed, again=succeed_again)
    else:
        applied = patiently(lambda: store.succeed(*call, **end))
    if not applied:
        telemetry.ignored("succeed", job.id, job.attempt)
    return following
