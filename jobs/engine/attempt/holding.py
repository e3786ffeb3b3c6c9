"""Hold the line: what a body may ask of the jobs behind it."""

from dataclasses import replace

from jobs import telemetry
from jobs.authoring.exceptions import Later, later_of
from jobs.calls import registry
from jobs.calls.refusals import InvalidRequest
from jobs.conf import settings
from jobs.store import Started
from plumbing.text import in_one_line, storable

MOST_OF_A_REASON = 200  # characters


def allowed(job: Started, error: BaseException) -> Later:
    """Return what RetryLater asks for.

    Raises ValueError for what is not possible, and if it holds a queue that this job type may not hold.
    """
    later = later_of(error)
    if later.hold == "queue" and _may_hold(job) != "queue":
        raise ValueError(
            f'RetryLater(hold="queue") stops the jobs of all tenants: mark {job.source_type}.{job.source_method} with'
            ' @job(may_hold="queue"), or say hold="tenant" for the jobs of its tenant'
        )
    return later


def bounded(job: Started, later: Later) -> Later:
    """Return it with a hold that is not too long, and a reason that can be stored and shown in a line."""
    why = in_one_line(storable(later.why))[:MOST_OF_A_REASON]
    longest = settings.JOBS_LONGEST_HOLD
    if later.hold is None or later.seconds <= longest:
        return replace(later, why=why)
    telemetry.noticed("hold cut", job=job.id, seconds=longest, asked=later.seconds)
    return replace(later, seconds=longest, why=why)


def _may_hold(job: Started) -> str | None:
    try:
        return registry.resolve(job.source_type, job.source_method).spec.may_hold
    except InvalidRequest:  # the method no longer exists
        return None
