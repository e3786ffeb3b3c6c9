"""Schedules: read the due ones, take due times, set the next ones."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models.functions import Now

from jobs.models import Job, Recorded, Schedule, ScheduleRun
from jobs.store.leading import database_now
from jobs.store.rows import rows

# A clock may be this late, or pause this long between two looks. After that, due times count as missed.
ON_TIME = timedelta(seconds=60)


@dataclass(frozen=True)
class DueSchedule:
    """A schedule whose time has come.

    under_way: its last job, if that has not ended.
    now: the time of the database's clock.
    missed_upto: the due times before this moment were missed, since no clock ran.
    """

    schedule: Schedule
    under_way: int | None
    now: datetime
    missed_upto: datetime


def due_schedules(batch: int) -> list[DueSchedule]:
    """Return at most `batch` schedules that are due, the longest due first, locked for this transaction.

    If two leaders meet the same schedule, the first one gets it (I10).
    """
    now = database_now()
    due = Schedule.objects.filter(next_at__lte=now).order_by("next_at")
    schedules = list(due.select_for_update(no_key=True, skip_locked=True)[:batch])
    if not schedules:
        return []
    upto, last = _missed_upto(now), [schedule.last_job_id for schedule in schedules if schedule.last_job_id]
    open_jobs = set(Job.objects.filter(pk__in=last, end_time=None).values_list("pk", flat=True))
    return [
        DueSchedule(schedule, schedule.last_job_id if schedule.last_job_id in open_jobs else None, now, upto)
        for schedule in schedules
    ]


def note_look() -> None:
    """Note that a clock runs: due times from now on are not missed, however late they are served."""
    now = database_now()
    Recorded.objects.update_or_create(task="missed", defaults={"upto": _missed_upto(now), "at": now})


def _missed_upto(now: datetime) -> datetime:
    """Return the moment before which due times were missed, since no clock ran.

    Since that moment a clock runs: the leader notes its looks, and two looks are no more than ON_TIME apart. The length
    of a turn changes nothing. A greater distance is a gap, or the database's clock was set; then only due times of the
    last ON_TIME are not missed.
    """
    last = Recorded.objects.filter(task="missed").first()
    return last.upto if last is not None and abs(now - last.at) <= ON_TIME else now - ON_TIME


def take_due_times(runs: Collection[ScheduleRun]) -> None:
    """Store the runs whose due times were not taken before (I10): these get a key."""
    noted = [(run.schedule_id, run.due, run.note) for run in runs]
    schedules, dues, notes = map(list, zip(*noted, strict=True)) if noted else ([], [], [])
    taken = {(schedule, due): pk for pk, schedule, due in rows("take", schedules=schedules, dues=dues, notes=notes)}
    for run in runs:
        run.pk = taken.get((run.schedule_id, run.due))


def give_back_due_times(runs: Iterable[ScheduleRun]) -> None:
    """Free due times that were taken, since they got no job."""
    ScheduleRun.objects.filter(pk__in=[run.pk for run in runs]).delete()


def note_runs(runs: Iterable[ScheduleRun]) -> None:
    """Store the outcome of due times that were taken."""
    ScheduleRun.objects.bulk_create(runs, update_conflicts=True, unique_fields=["pk"], update_fields=["job_id", "note"])


def advance_schedules(moved: Iterable[Schedule]) -> None:
    """Store the next due times of schedules, or why they are paused."""
    fields = ["next_due", "next_at", "last_job_id", "paused", "paused_because"]
    Schedule.objects.bulk_update(list(moved), fields)


def next_run() -> float | None:
    """Return the seconds until a schedule is due (negative: late); None if none is to come."""
    # Not their difference: psycopg cannot read intervals in a style that a database may have.
    coming = Schedule.objects.exclude(next_at=None).order_by("next_at").values_list("next_at", Now()).first()
    return None if coming is None else (coming[0] - coming[1]).total_seconds()
