"""Check that a rate limit in a row is whole: a number, and the window in seconds in which it applies."""

from django.core.exceptions import ValidationError
from django.db import models

from plumbing.bounds import MAX_SECONDS

SHORTEST_WINDOW = 0.001  # seconds


def rate_is_whole() -> models.Q:
    """Return the constraint that a row has both a number of jobs and a window, or neither."""
    return models.Q(rate_limit__isnull=True, rate_window__isnull=True) | models.Q(
        rate_limit__isnull=False,  # explicit, since a CHECK accepts NULL
        rate_limit__gte=1,
        rate_window__isnull=False,
        rate_window__gte=SHORTEST_WINDOW,
        rate_window__lte=MAX_SECONDS,
    )


def check_rate(limit: int | None, window: float | None) -> None:
    """Raise ValidationError on the missing field if only one of the two is given."""
    if limit is not None and window is None:
        raise ValidationError({"rate_window": "A rate limit needs a window: the seconds over which it counts."})
    if window is not None and limit is None:
        raise ValidationError({"rate_limit": "A window needs a rate limit: the number of jobs that may start in it."})
