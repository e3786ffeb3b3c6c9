"""Pause and resume a job type. (Queues and tenants have a `paused` column, which the claim reads.)"""

from contextlib import suppress

from jobs import store
from jobs.calls import registry
from jobs.calls.refusals import InvalidRequest
from jobs.engine.door import dispatch, repairs
from jobs.models import PausedJobType


def pause_job_type(source_type: str, source_method: str) -> int:
    """Stop starting jobs of this type; return the number of waiting jobs that are now held.

    Raises InvalidRequest for an unknown type.
    The row is committed before the waiting jobs are held, so that later submits see it. Jobs that were being submitted
    at that moment, or were on their way to a worker, are put off at their start.
    """
    source_type = registry.resolve(source_type, source_method).source_type  # for a method of a proxy, that of its model
    PausedJobType.objects.get_or_create(source_type=source_type, source_method=source_method)
    held = store.hold(source_type, source_method)
    dispatch.on_commit()  # a claim may have skipped the rows while they were being held; others behind them may start
    return len(held)


def resume_job_type(source_type: str, source_method: str) -> int:
    """Start jobs of this type again; return how many are released. Raises InvalidRequest if the type is not paused.

    A type whose code was removed while paused must not hold its jobs for ever, so the registry need not know it.
    """
    names = {source_type}
    with suppress(InvalidRequest):
        names.add(registry.resolve(source_type, source_method).source_type)
    resumed, _ = PausedJobType.objects.filter(source_type__in=names, source_method=source_method).delete()
    if not resumed:
        paused = ", ".join(sorted(map(str, PausedJobType.objects.all()))) or "none"
        raise InvalidRequest("source_method", f"{source_type}.{source_method} is not paused; paused: {paused}")
    return release()


def release_strays() -> None:
    """The clock's duty: release and count the jobs that a resumption missed."""
    repairs.count(repairs.STRAY, release())


def release() -> int:
    """Release every held job whose type is not paused. The clock calls it too, for jobs that a resumption missed."""
    released = store.release()
    if released:
        dispatch.on_commit()
    return len(released)
