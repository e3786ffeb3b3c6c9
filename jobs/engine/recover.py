"""Recover: take back jobs whose holder died, send lost messages again. Waits for no row: what is locked comes later."""

from dataclasses import dataclass

from django.conf import settings

from jobs import store, telemetry
from jobs.deaths.announce import announce
from jobs.engine import dispatch, repairs
from jobs.engine.body import Outcome
from jobs.engine.settle import settle
from jobs.lifecycle import Status
from jobs.store import ANY_PROCESS, Failure, Process

SESSION_PATIENCE = 1.0  # seconds to wait for each session of a dead process to end


@dataclass(frozen=True)
class Sentence:
    """Why a process was ended while it ran this attempt. failure: None if it had run out of its time."""

    job_id: int
    attempt: int
    failure: Failure | None


def declare_gone(watched: float, latest: float) -> None:
    """Notice the workers that stopped beating. watched, latest: as `store.declare_gone` says."""
    for name in store.declare_gone(watched, latest):
        telemetry.noticed("worker gone", worker=name)


def take_back_orphans() -> None:
    """Take back what gone workers were running; one dispatch serves the slots that this frees.

    Their sessions are ended first, and not waited for: what they still have locked is free at the next look.
    """
    orphans = store.orphans()
    for worker in {orphan.worker for orphan in orphans}:
        store.end_sessions(worker)
    taken = 0
    for orphan in orphans:
        if orphan.name is None and not store.bar_worker(orphan.worker):
            continue  # it has registered meanwhile, and is not gone
        failure = Failure("WorkerGone", f"worker {orphan.name or 'unknown'} is gone")
        taken += take_back(orphan.id, orphan.attempt, failure)
    if taken:
        repairs.count(repairs.ORPHAN, taken)
        dispatch.dispatch()


def process_ended(process: Process, job_id: int, attempt: int, death: str, sentence: Sentence | None = None) -> bool:
    """A process is no more: what it was running ends or waits again; whether that is done, or somebody holds it up.

    job_id, attempt: of its message, which perhaps had not started. death: what is known of it. sentence: why we ended
    it, and in which attempt; whatever else it was running is not to blame.
    """
    # One that is left may still start something, which nobody would run: then it is too early to look.
    worker, pid = process.worker, process.pid
    if worker is not None and pid and not store.end_sessions(worker, pid, patience=SESSION_PATIENCE):
        return False
    left = store.left_behind(process, job_id, attempt)
    settled = [one for one in left if one.free and _settle(one.id, one.attempt, process, death, sentence)]
    if settled:
        dispatch.request()
    return len(settled) == len(left)


def _settle(job_id: int, attempt: int, process: Process, death: str, sentence: Sentence | None) -> bool:
    if sentence is None or (sentence.job_id, sentence.attempt) != (job_id, attempt):
        return take_back(job_id, attempt, Failure("ProcessDied", death), process)
    if sentence.failure is None and time_out(job_id, attempt, process):
        return True
    return take_back(job_id, attempt, sentence.failure or Failure("ProcessDied", death), process)


def take_back(job_id: int, attempt: int, failure: Failure, process: Process = ANY_PROCESS) -> bool:
    """An attempt's process died: its job waits again, or is dead after JOBS_MAX_CRASHES crashes; False if not (yet)."""
    status = store.take_back(job_id, attempt, failure, settings.JOBS_MAX_CRASHES, process=process)
    if status is None:
        telemetry.ignored("take_back", job_id, attempt)
        return False
    if status == Status.DEAD:
        announce(job_id, attempt)
    elif status == Status.SCHEDULED:
        store.wake_clock()
    return True


def time_out(job_id: int, attempt: int, process: Process = ANY_PROCESS) -> bool:
    """An attempt was ended at its hard time limit, having ignored the soft one: a failure, for its policy to judge.

    False if it does not run there any more.
    """
    job = store.holder(job_id, attempt, process)
    if job is None:
        return False
    settle(job, Outcome(error=TimeoutError(f"timed out after {job.timeout:g} s and was killed")))
    return True


def hand_over_again() -> None:
    """Send the messages again that must be lost: unanswered although a process of their pool is idle."""
    lost = store.hand_over_again(settings.JOBS_HAND_OVER_TIMEOUT)
    for job in lost:
        telemetry.noticed("message lost, sent again", job=job.id, attempt=job.attempt)
    repairs.count(repairs.MESSAGE, len(lost))
    dispatch.hand_over(lost)
