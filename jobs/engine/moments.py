"""Moments that callers of other systems name."""

from datetime import datetime

from django.utils import timezone

from jobs import store


def seconds_until(moment: datetime | None) -> float | None:
    """The delay until that moment by the database's clock; 0 if it has passed, None without one.

    A moment without a time zone is in the project's, as those systems have it.
    """
    if moment is None:
        return None
    aware = timezone.make_aware(moment) if timezone.is_naive(moment) else moment
    return max((aware - store.database_now()).total_seconds(), 0)
