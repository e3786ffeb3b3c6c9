"""Pause and resume a job type. (Queues and tenants have a column for it, which the claim reads.)"""

from jobs import store
from jobs.calls import registry
from jobs.calls.request import InvalidRequest
from jobs.engine import dispatch, repairs
from jobs.models import PausedJobType


def pause_job_type(source_type: str, source_method: str) -> int:
    """No job of this type starts any more; the number of waiting ones now held.

    Raises InvalidRequest for an unknown type.
    The row is committed before the line is swept, so that whoever submits from now on sees it; what was being submitted
    meanwhile, or is on its way to a worker, is put off at its start.
    """
    registry.resolve(source_type, source_method)
    PausedJobType.objects.get_or_create(source_type=source_type, source_method=source_method)
    held = store.hold(source_type, source_method)
    dispatch.on_commit()  # a claim may have passed the rows over while they were being held, for others behind them
    return len(held)


def resume_job_type(source_type: str, source_method: str) -> int:
    """Jobs of this type start again; the number of jobs released. Raises InvalidRequest for a type that is not paused.

    The registry is not asked: a type whose code was removed while it was paused must not hold its jobs for ever.
    """
    resumed, _ = PausedJobType.objects.filter(source_type=source_type, source_method=source_method).delete()
    if not resumed:
        paused = ", ".join(sorted(map(str, PausedJobType.objects.all()))) or "none"
        raise InvalidRequest("source_method", f"{source_type}.{source_method} is not paused; paused: {paused}")
    return release()


def release_strays() -> None:
    """The clock's duty: release what a resumption missed, and count it."""
    repairs.count(repairs.STRAY, release())


def release() -> int:
    """Put every held job whose type is not paused back in line; the clock asks too, for what a resumption missed."""
    released = store.release()
    if released:
        dispatch.on_commit()
    return len(released)
