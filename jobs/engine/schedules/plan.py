"""Plan which due times of a schedule become jobs now, and when it is due next. Pure, but for the database's clock."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from jobs.authoring.recurrence import Recurrence, offset
from jobs.models import Schedule
from jobs.store import DueSchedule

MOST_CAUGHT_UP = 100  # the most missed due times that are caught up; the latest ones
MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Plan:
    """The due times of a schedule that are to be handled now.

    due: the times that become jobs, in order.
    skipped: the times that get no job.
    why: the reason for which they are skipped.
    next_due: None: the schedule has ended.
    """

    due: list[datetime]
    skipped: list[datetime]
    why: str
    next_due: datetime | None


def recurrence_of(rule: Schedule) -> Recurrence:
    """Return the recurrence of a schedule. Raises InvalidRecurrence."""
    return Recurrence(every=rule.every, cron=rule.cron, tz=rule.tz, anchor=rule.starts_at)


def first_due(rule: Schedule, now: datetime) -> datetime | None:
    """Return the first due time from now on, and from the start on; None if it has ended. Raises InvalidRecurrence."""
    return _next(rule, max(rule.starts_at, now).astimezone(UTC) - MICROSECOND)


def move(schedule: Schedule, due: datetime | None) -> None:
    """Set the next due time, and when it runs: later by the schedule's own part of the jitter. None: there is none."""
    schedule.next_due, schedule.next_at = due, due and due + offset(schedule.pk, schedule.jitter)


def plan(due_schedule: DueSchedule) -> Plan:
    """Return which due times are to be handled now. Raises InvalidRecurrence."""
    schedule = due_schedule.schedule
    delay = offset(schedule.pk, schedule.jitter)
    moment = due_schedule.now - delay  # whatever was due by then runs now
    upto = moment if schedule.ends_at is None else min(moment, schedule.ends_at)
    limit = MOST_CAUGHT_UP if schedule.catch_up == "all" else 1
    due = recurrence_of(schedule).last(limit, schedule.next_due or moment, upto)
    skipped: list[datetime] = []
    why = ""
    if schedule.catch_up == "none" and due and due[-1] + delay < due_schedule.missed_upto:
        due, skipped, why = [], due, "It was missed: no clock ran at its time."
    elif schedule.overlap == "skip":
        first = 0 if due_schedule.under_way else 1
        due, skipped, why = due[:first], due[first:], "The previous run is not over."
    elif schedule.overlap == "cancel":
        due, skipped, why = due[-1:], due[:-1], "The next run replaces it."
    return Plan(due, skipped, why, _next(schedule, moment))


def _next(rule: Schedule, moment: datetime) -> datetime | None:
    due = next(recurrence_of(rule).after(moment))
    return None if rule.ends_at is not None and due > rule.ends_at else due
