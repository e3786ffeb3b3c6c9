"""Recover: take back jobs whose holder died, send lost messages again. Skips locked rows until the next look."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from jobs import store, telemetry
from jobs.conf import settings
from jobs.engine.attempt.outcome import Outcome
from jobs.engine.attempt.settle import settle
from jobs.engine.deaths.announce import announce
from jobs.engine.door import dispatch, repairs
from jobs.engine.process.user_code import in_a_thread
from jobs.lifecycle import Status
from jobs.models import NEIGHBOUR_ENDED, SHARED_DEATH, WORKER_STOPPED
from jobs.store import ANY_SEAT, Failure, Seat

SESSION_PATIENCE = 1.0  # seconds to wait for each session of a dead process to end
MOST_STOPS = 10  # ends that are not to blame on a job, and do not count as its crashes; each further one does
STOPPED = Failure(WORKER_STOPPED, "its worker was stopped")
NEIGHBOUR = Failure(NEIGHBOUR_ENDED, "its process was ended because of another job in it")
FORGIVEN = (WORKER_STOPPED, NEIGHBOUR_ENDED, SHARED_DEATH)


@dataclass(frozen=True)
class Kill:
    """A worker ends a process because of this attempt. The other attempts of the process are not to blame.

    reason: why it ends the process; a text: its body was silent for too long; None: the time limit of the attempt.
    """

    pid: int
    job_id: int
    attempt: int
    reason: Failure | str | None


@dataclass(frozen=True)
class Death:
    """The end of a process of a worker.

    pid: 0: there was no process yet.
    job_id: the job of the message that the process had.
    attempt: the attempt of that message; it may not have started.
    error: how the process ended.
    kills: why its worker ended it, for each seat that exceeded a limit; (): the worker did not.
    stopped: whether its worker was asked to stop.
    aboard: the attempts that its seats held; None: it had one seat.
    """

    pid: int
    job_id: int
    attempt: int
    error: str
    kills: tuple[Kill, ...] = ()
    stopped: bool = False
    aboard: Sequence[tuple[int, int]] | None = None


def declare_gone(watched: float, now: datetime) -> None:
    """Declare workers gone that stopped beating. For the parameters see `store.declare_gone`."""
    for name in store.declare_gone(watched, now):
        telemetry.noticed("worker gone", worker=name)


def take_back_orphans() -> None:
    """Take back the jobs of gone workers; one dispatch fills the slots that this frees.

    The sessions of the workers are ended first, without waiting. Rows that these still lock are free at the next look.
    """
    orphans = store.orphans()
    for worker in {orphan.worker for orphan in orphans}:
        store.end_sessions(worker)
    taken = 0
    for orphan in orphans:
        if orphan.name is None and not store.bar_worker(orphan.worker):
            continue  # it has registered meanwhile, so it is not gone
        failure = STOPPED if orphan.stopped else Failure("WorkerGone", f"worker {orphan.name or 'unknown'} is gone")
        taken += take_back(orphan.id, orphan.attempt, failure)
    if taken:
        repairs.count(repairs.ORPHAN, taken)
        dispatch.dispatch()


def process_ended(worker: uuid.UUID, death: Death) -> bool:
    """Fail or take back the attempts of a process that has ended. Dispatch, since it may have settled without that.

    Return False if a lock or a session delays that.
    """
    # A session that is left may still start an attempt, which no process would run: then it is too early to look.
    if death.pid and not store.end_sessions(worker, death.pid, patience=SESSION_PATIENCE):
        return False
    seat = Seat(worker, death.pid)
    left = store.left_behind(seat, death.job_id, death.attempt)
    settled = [attempt for attempt in left if attempt.free and _settle(attempt.id, attempt.attempt, seat, death)]
    dispatch.request()
    return len(settled) == len(left)


def _settle(job_id: int, attempt: int, seat: Seat, death: Death) -> bool:
    failure = _failure_of(job_id, attempt, death)
    for kill in death.kills:
        if (kill.job_id, kill.attempt) == (job_id, attempt):
            if isinstance(kill.reason, Failure):
                failure = kill.reason
            elif time_out(job_id, attempt, seat, kill.reason):
                return True
    return take_back(job_id, attempt, failure, seat)


def _failure_of(job_id: int, attempt: int, death: Death) -> Failure:
    """Return the failure of an attempt that ended with its process, unless the process was ended because of it."""
    if death.kills and all((kill.job_id, kill.attempt) != (job_id, attempt) for kill in death.kills):
        return NEIGHBOUR
    if death.stopped:
        return STOPPED
    if death.aboard is None:
        return Failure("ProcessDied", death.error)
    if [*death.aboard] == [(job_id, attempt)]:
        return Failure("ProcessDied", f"{death.error}, with no other job in it")
    begun = (job_id, attempt) in death.aboard
    return Failure(SHARED_DEATH, f"{death.error}, {'with other jobs in it' if begun else 'perhaps before it began'}")


def take_back_unheld(seat: Seat, job_id: int, attempt: int) -> bool:
    """Take back an attempt whose row names the process of this seat, while the parent knows that no seat of it runs it.

    Return False if that is not (yet) done.
    """
    telemetry.noticed("taken back: its process does not run it", job=job_id, attempt=attempt, pid=seat.pid)
    error = "its process does not run it: PostgreSQL has lost its end, by a failover or a restore"
    taken = take_back(job_id, attempt, Failure("OutcomeLost", error), seat)
    if taken:
        repairs.count(repairs.UNHELD)
        dispatch.request()
    return taken


def take_back(job_id: int, attempt: int, failure: Failure, seat: Seat = ANY_SEAT) -> bool:
    """Take back an attempt whose process died. Its job waits again, or is dead after JOBS_MAX_CRASHES.

    Return False if that is not (yet) done.
    """
    forgiven = MOST_STOPS if failure.error_class in FORGIVEN else 0
    status = store.take_back(job_id, attempt, failure, settings.JOBS_MAX_CRASHES, seat=seat, forgiven=forgiven)
    if status is None:
        telemetry.ignored("take_back", job_id, attempt, "it is over, or runs elsewhere, or its row is locked")
        return False
    if status == Status.DEAD:
        announce(job_id, attempt)
    elif status == Status.SCHEDULED:
        store.wake_clock()
    return True


def time_out(job_id: int, attempt: int, seat: Seat = ANY_SEAT, why: str | None = None) -> bool:
    """Fail an attempt that ignored its soft time limit and was killed at the hard one. The retry policy decides.

    why: what its error says; None: that it exceeded its timeout.

    Return False if the attempt no longer runs there.
    """
    job = store.still_running(job_id, attempt, seat)
    if job is None:
        return False
    job = replace(job, holder=replace(job.holder, lost=True))
    why = why or f"timed out after {job.timeout:.15g} s"
    settle(job, Outcome(error=TimeoutError(f"{why} and was killed")), in_a_thread)
    return True


def hand_over_again() -> None:
    """Repeat messages that must be lost: no process took them, although a process of their pool is idle."""
    lost = store.hand_over_again(settings.JOBS_HAND_OVER_TIMEOUT)
    for job in lost:
        telemetry.noticed("message lost, sent again", job=job.id, attempt=job.attempt)
    repairs.count(repairs.MESSAGE, len(lost))
    dispatch.hand_over(lost)
