"""Pause and resume a job type."""

from django.http import HttpRequest, HttpResponse

from jobs.calls.refusals import InvalidRequest
from jobs.console.ops.access import action_for
from jobs.console.ops.answers import done, refused
from jobs.engine.pause import pause_job_type, resume_job_type


@action_for("jobs.add_pausedjobtype")
def pause(request: HttpRequest) -> HttpResponse:
    """Hold the waiting jobs of a type; its running jobs continue."""
    source_type, method = _type(request)
    try:
        held = pause_job_type(source_type, method)
    except InvalidRequest as error:
        return refused(request, f"{error}.")
    return done(request, f"Paused {source_type}.{method}: {held:,} waiting jobs are held.")


@action_for("jobs.delete_pausedjobtype")
def resume(request: HttpRequest) -> HttpResponse:
    """Release the held jobs of a type."""
    source_type, method = _type(request)
    try:
        released = resume_job_type(source_type, method)
    except InvalidRequest as error:  # another operator was faster
        return refused(request, f"{error}.")
    return done(request, f"Resumed {source_type}.{method}: {released:,} jobs are released.")


def _type(request: HttpRequest) -> tuple[str, str]:
    source_type, _, method = request.POST.get("type", "").replace("\x00", "").rpartition(".")
    return source_type, method
