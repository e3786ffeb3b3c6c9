"""Moments that callers of other systems name."""

from collections.abc import Callable
from datetime import datetime

from django.utils import timezone

from jobs.calls.refusals import Passed
from jobs.calls.request import JobRequest
from jobs.engine.submit import Submitted, submit


def submit_for(moment: datetime | None, request: Callable[..., JobRequest]) -> Submitted:
    """Submit `request(at=moment)`; without a moment, or if it has passed by the database's clock, `request()`.

    A moment without a time zone is in the project's, as those systems have it. Raises as `submit` does.
    """
    if moment is not None:
        aware = timezone.make_aware(moment) if timezone.is_naive(moment) else moment
        try:
            return submit(request(at=aware))
        except Passed:
            pass  # nothing was stored
    return submit(request())
