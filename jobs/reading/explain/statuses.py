"""Explain a job that is not ready: the meaning of its status, and the event that it waits for."""

from datetime import timedelta

from jobs.allocation.gates import Gate
from jobs.calls.registry import spec_of
from jobs.engine.attempt.policy import most_retries
from jobs.lifecycle import Status
from jobs.models import EXPIRED, HELD_UNTIL, NEIGHBOUR_ENDED, UNKNOWN_JOB_TYPE, UNTOLD, WORKER_STOPPED
from jobs.reading.explain.gates import Blocker, as_text, closed
from jobs.reading.explain.reads import JobFacts, Predecessor
from plumbing.text import count_of_jobs, duration, in_one_line


def scheduled(job: JobFacts) -> list[Blocker]:
    """The job waits for its moment, until its job type is resumed, or for a budget."""
    held = [blocker for blocker in closed(job) if blocker.gate in (Gate.HELD, Gate.BUDGET)]
    if job.due_at is None or job.due_at == HELD_UNTIL:
        return held or [Blocker(Gate.HELD, "What held it is over; the clock is about to release the job.")]
    when = (
        f"due at {as_text(job.due_at)}"
        if job.due_at > job.now
        else f"due since {as_text(job.due_at)}, waiting for the clock"
    )
    if job.behind is not None:
        return [Blocker(Gate.SCHEDULED, f"Waits for the end of job {job.behind}, which it replaces."), *held]
    if not job.last_attempt_failed:
        cause = "Asked to run again" if job.attempt else "Scheduled"
        return [Blocker(Gate.SCHEDULED, f"{cause}: {when}.", opens_at=job.due_at), *held]
    if (innocent := _innocent(job)) is not None:
        return [Blocker(Gate.SCHEDULED, f"{innocent} again, {when}.", opens_at=job.due_at), *held]
    limit = most_retries(job)
    of_limit = "" if limit is None else f" of {limit}"
    sentence = f"Failed and waits for retry {job.retries}{of_limit}: {when}. Last error: {job.last_error}"
    return [Blocker(Gate.SCHEDULED, sentence, job.retries, limit, job.due_at), *held]


def _innocent(job: JobFacts) -> str | None:
    """Return why the job runs again though it has not failed; None if it has failed."""
    error_class, _, error = job.last_error.partition(": ")
    if error_class == WORKER_STOPPED:
        return "Its worker was stopped before it had ended: it runs"
    if error_class == NEIGHBOUR_ENDED:
        return "Its process was ended because of another job in it, which is no failure of this one: it runs"
    if error_class != UNKNOWN_JOB_TYPE:
        return None
    name = f"{job.source_type}.{job.source_method}"
    return f"No worker of pool {job.queue.pool.name} that got the job knows {name} yet ({error}): it is tried"


def _named(job: Predecessor) -> str:
    revival = f"; it may be revived until {as_text(job.until)}" if job.until else ""
    return f"{job.id} ({job.status}{revival})"


def blocked(predecessors: list[Predecessor]) -> Blocker:
    """The job waits for others."""
    if not predecessors:
        return Blocker(Gate.BLOCKED, "The jobs that it waited for have ended; the next dispatch unblocks it.", 0)
    count = predecessors[0].count
    named = [_named(predecessor) for predecessor in predecessors]
    more = f" and {count - len(named):,} more" if count > len(named) else ""
    moments = [predecessor.until for predecessor in predecessors if predecessor.until]
    sentence = f"Waits for {count_of_jobs(count)}: {', '.join(named)}{more}."
    return Blocker(Gate.BLOCKED, sentence, count, opens_at=min(moments, default=None))


def waits_for_event(job: JobFacts) -> Blocker:
    """The job waits for an event, until its patience ends."""
    until = "" if job.expires_at is None else f" until {as_text(job.expires_at)}; then it is cancelled"
    return Blocker(Gate.EVENT, f"Waits for the event {in_one_line(job.waits_for or '')}{until}.", opens_at=None)


def queued(job: JobFacts) -> Blocker:
    """The job was handed over."""
    waits = f"waits for a worker of pool {job.queue.pool.name} to start it"
    if job.queued_at is None or job.handed_at is None:
        return Blocker(Gate.QUEUED, f"Holds slot {job.slot} and {waits}.")
    sent = (
        "" if job.handed_at == job.queued_at else f"; its message was sent again {_length(job.now - job.handed_at)} ago"
    )
    since = _length(job.now - job.queued_at)
    return Blocker(Gate.QUEUED, f"Has held slot {job.slot} for {since} and {waits}{sent}.")


def running(job: JobFacts) -> Blocker:
    since = "" if job.start_time is None else f" for {_length(job.now - job.start_time)}"
    where = "" if job.worker is None else f" on {job.worker}"
    done = "" if job.progress is None else f", {job.progress * 100:.0f} % done"
    stopping = " It was asked to stop." if job.stopping else ""
    spec = spec_of(job.source_type, job.source_method)
    silence = "" if spec is None or not spec.silence else f" It is ended once silent for {duration(spec.silence)}."
    return Blocker(Gate.RUNNING, f"Running{since}{where}, attempt {job.attempt}{done}.{stopping}{silence}")


def ended(job: JobFacts, stopped: str) -> Blocker:
    """The job is over.

    stopped: a sentence about the jobs that it holds up; "": it holds up none.
    """
    at = "" if job.end_time is None else f" at {as_text(job.end_time)}"
    again = "its arguments were erased, so it cannot be revived" if job.erased else "it can be revived"
    dead = f"it can be discarded; {again}" if job.erased else f"{again} or discarded"
    sentences = {
        Status.SUCCESS: f"Succeeded{at}.",
        Status.CANCELLED: f"Cancelled{at}{_because(job)}; {again}.",
        Status.DEAD: f"Died{at}; {dead}. {stopped}{' ' if stopped else ''}{job.last_error}",
        Status.ERROR: f"Failed{at}: its type has no retries; {again}. {job.last_error}",
    }
    return Blocker(Gate.ENDED, sentences[Status(job.status)].rstrip())


def _because(job: JobFacts) -> str:
    if job.reason == EXPIRED and job.expires_at is not None:
        return f", since it had expired: nothing starts it after {as_text(job.expires_at)}"
    event = f" ({in_one_line(job.waits_for)})" if job.waits_for and job.reason == UNTOLD else ""
    return "" if job.reason is None else f", {job.reason}{event}"


def _length(time: timedelta) -> str:
    return duration(time.total_seconds())
