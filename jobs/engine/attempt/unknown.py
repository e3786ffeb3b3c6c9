"""Jobs of a type that this worker does not know (yet): during a deploy another worker may know it.

The attempts of such a job end without a failure, and it is tried again after 5, 10, 20 ... seconds. Only when that has
lasted JOBS_UNKNOWN_PATIENCE seconds, the job ends as its policy says.
"""

from jobs import store
from jobs.calls.refusals import InvalidRequest
from jobs.conf import settings
from jobs.engine.attempt.body import UnknownJobType
from jobs.engine.process.patience import patiently
from jobs.store import Started

FIRST, LONGEST = 5.0, 60.0  # seconds until the next attempt


def delay_until_known(job: Started) -> float | None:
    """Return the seconds until the next try, twice the last delay; None: the type has been unknown for too long."""
    lasted = patiently(lambda: store.unknown_for(job))
    return min(lasted + FIRST, LONGEST) if lasted < settings.JOBS_UNKNOWN_PATIENCE else None


def as_refusal(error: UnknownJobType) -> InvalidRequest:
    """Return the error of a job whose type stayed unknown for too long."""
    return InvalidRequest(error.field, error.message).with_traceback(error.__traceback__)
