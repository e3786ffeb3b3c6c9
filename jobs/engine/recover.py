"""Recover: take back jobs whose holder died, send lost messages again."""

from django.conf import settings

from jobs import store, telemetry
from jobs.engine import dispatch


def declare_gone() -> None:
    """Notice the workers that stopped beating."""
    for name in store.declare_gone():
        telemetry.noticed("worker gone", worker=name)


def take_back_orphans() -> None:
    """Take back what gone workers were running; one dispatch serves the slots that this frees."""
    orphans = store.orphans()
    for job_id, attempt, worker in orphans:
        _take_back(job_id, attempt, f"worker {worker} is gone")
    if orphans:
        dispatch.dispatch()


def take_back(job_id: int, attempt: int, error: str) -> None:
    """An attempt's process died: its job waits again, or is dead after JOBS_MAX_CRASHES crashes."""
    _take_back(job_id, attempt, error)
    dispatch.dispatch()


def _take_back(job_id: int, attempt: int, error: str) -> None:
    status = store.take_back(job_id, attempt, error, settings.JOBS_MAX_CRASHES)
    if status is None:
        telemetry.ignored("take_back", job_id, attempt)
    else:
        telemetry.applied("bury" if status == "dead" else "take_back", job_id, attempt, error=error)


def time_out(job_id: int, attempt: int, seconds: float) -> None:
    """An attempt was ended at its hard time limit, having ignored the soft one."""
    error = f"timed out after {seconds:g} s and was killed"
    if store.fail(job_id, attempt, error_class="TimeoutError", error=error):
        telemetry.applied("fail", job_id, attempt, error=error)
    dispatch.dispatch()


def hand_over_again() -> None:
    """Send the messages again that must be lost: unanswered although a process of their pool is idle."""
    lost = store.hand_over_again(settings.JOBS_HAND_OVER_TIMEOUT)
    for job in lost:
        telemetry.noticed("message lost, sent again", job=job.id, attempt=job.attempt)
    dispatch.hand_over(lost)
