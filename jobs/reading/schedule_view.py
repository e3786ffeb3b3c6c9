"""A schedule for people: its rule in words, its next due times, its delay.

Delays come from the clock of this machine, so that a list asks the database nothing for each of its rows.
"""

from datetime import UTC, datetime
from itertools import islice, takewhile
from typing import Any

from django.utils import timezone

from jobs import store
from jobs.authoring.recurrence import InvalidRecurrence
from jobs.engine.schedules.check import check_times
from jobs.engine.schedules.plan import MICROSECOND, recurrence_of
from jobs.models import Schedule

TIMES = 5  # next ones that are shown


def previewed(**rule: Any) -> Schedule:
    """Return an unsaved schedule of that rule, checked. Raises InvalidRequest, naming the field."""
    given = {name: value for name, value in rule.items() if value is not None}
    schedule = Schedule(**{"starts_at": store.database_now()} | given)
    check_times(schedule)
    return schedule


def in_words(schedule: Schedule) -> str:
    """Return the rule in words; as it was entered if it is no longer valid."""
    try:
        return recurrence_of(schedule).in_words()
    except InvalidRecurrence:
        return f"{schedule.cron} ({schedule.tz})"


def next_times(schedule: Schedule) -> list[datetime]:
    """Return the next due times, without jitter; none if the schedule is paused, sleeps, or has ended."""
    if schedule.paused or schedule.undeclared_at is not None:
        return []
    try:
        since = max(timezone.now(), schedule.starts_at).astimezone(UTC) - MICROSECOND
        times = recurrence_of(schedule).after(since)
        return list(islice(takewhile(lambda due: not schedule.ends_at or due <= schedule.ends_at, times), TIMES))
    except InvalidRecurrence:
        return []


def late(schedule: Schedule) -> float | None:
    """Return the seconds by which its next job is late; None if it is not late."""
    if schedule.next_at is None or (behind := (timezone.now() - schedule.next_at).total_seconds()) <= 0:
        return None
    return behind


def state_of(schedule: Schedule) -> str:
    """Return a word: undeclared (it sleeps), paused itself (its call is not possible), paused, ended, late, or on."""
    if schedule.undeclared_at is not None:
        return "undeclared"
    if schedule.paused:
        return "paused itself" if schedule.paused_because else "paused"
    if schedule.next_at is None:
        return "ended"
    return "late" if (late(schedule) or 0) > 1 else "on"
