"""A job whose type this worker does not know (yet): a deploy may be in progress, and another worker know it.

Its attempts end without a failure, and it is tried again after 5, 10, 20 ... seconds. Only when that has lasted
JOBS_UNKNOWN_PATIENCE seconds, the job ends as its policy says.
"""

from jobs import store
from jobs.calls.refusals import InvalidRequest
from jobs.conf import settings
from jobs.engine.body import UnknownJobType
from jobs.engine.patience import patiently
from jobs.store import Started

FIRST, LONGEST = 5.0, 60.0  # seconds until the next attempt


def delay_until_known(job: Started) -> float | None:
    """Seconds until the job is tried again; None: that has lasted too long. Each is twice the last one."""
    lasted = patiently(lambda: store.unknown_for(job))
    return min(lasted + FIRST, LONGEST) if lasted < settings.JOBS_UNKNOWN_PATIENCE else None


def as_refusal(error: UnknownJobType) -> InvalidRequest:
    """The error of a job that nobody came to know."""
    return InvalidRequest(error.field, error.message).with_traceback(error.__traceback__)
