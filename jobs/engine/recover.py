"""Recover: take back jobs whose holder died, send lost messages again."""

from django.conf import settings

from jobs import store, telemetry
from jobs.engine import dispatch, repairs
from jobs.engine.body import Outcome
from jobs.engine.deaths import announce
from jobs.engine.settle import settle
from jobs.lifecycle import Status
from jobs.store import ANY_PROCESS, Failure, Process

_VERBS = {Status.CREATED: "take_back", Status.DEAD: "bury", Status.CANCELLED: "stop"}


def declare_gone() -> None:
    """Notice the workers that stopped beating."""
    for name in store.declare_gone():
        telemetry.noticed("worker gone", worker=name)


def take_back_orphans() -> None:
    """Take back what gone workers were running; one dispatch serves the slots that this frees."""
    orphans = store.orphans()
    for orphan in orphans:
        if orphan.name is None and not store.give_up(orphan.worker):
            continue  # it has registered meanwhile, and is not gone
        failure = Failure("WorkerGone", f"worker {orphan.name or 'unknown'} is gone")
        _take_back(orphan.id, orphan.attempt, failure)
    if orphans:
        repairs.count(repairs.ORPHAN, len(orphans))
        dispatch.dispatch()


def take_back(job_id: int, attempt: int, failure: Failure, process: Process = ANY_PROCESS) -> None:
    """An attempt's process died: its job waits again, or is dead after JOBS_MAX_CRASHES crashes."""
    _take_back(job_id, attempt, failure, process)
    dispatch.dispatch()


def _take_back(job_id: int, attempt: int, failure: Failure, process: Process = ANY_PROCESS) -> None:
    status = store.take_back(job_id, attempt, failure, settings.JOBS_MAX_CRASHES, process=process)
    if status is None:
        telemetry.ignored("take_back", job_id, attempt)
        return
    telemetry.applied(_VERBS[Status(status)], job_id, attempt, error=failure.error)
    if status == Status.DEAD:
        announce(job_id, attempt)


def time_out(job_id: int, attempt: int, seconds: float, process: Process = ANY_PROCESS) -> None:
    """An attempt was ended at its hard time limit, having ignored the soft one: a failure, for its policy to judge."""
    error = f"timed out after {seconds:g} s and was killed"
    job = store.holder(job_id, attempt, process)
    if job is not None:
        settle(job, Outcome(error=TimeoutError(error)))
    else:
        # Its start may still be under way in the server, and would find nobody to run the job.
        _take_back(job_id, attempt, Failure("TimeoutError", error), process)
    dispatch.dispatch()


def hand_over_again() -> None:
    """Send the messages again that must be lost: unanswered although a process of their pool is idle."""
    lost = store.hand_over_again(settings.JOBS_HAND_OVER_TIMEOUT)
    for job in lost:
        telemetry.noticed("message lost, sent again", job=job.id, attempt=job.attempt)
    repairs.count(repairs.MESSAGE, len(lost))
    dispatch.hand_over(lost)
