"""What people do to a tenant's schedules: add, change, pause, resume, delete, run now."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from jobs import store
from jobs.calls.request import InvalidRequest
from jobs.engine.schedules.plan import at, first_due
from jobs.engine.schedules.run import request_of
from jobs.engine.submit import submit
from jobs.models import Schedule
from jobs.recurrence import LONGEST, InvalidRecurrence
from jobs.store import Run
from tenants.models import Tenant


def add(tenant: Tenant, *, by_tenant: bool = False, **fields: Any) -> Schedule:
    """A new schedule, which is due from now on. fields: those of the model; every, or cron and tz, among them.

    by_tenant: its tenant asks: within what it may call. Raises InvalidRequest, naming the field.
    """
    most = settings.JOBS_MAX_SCHEDULES
    if by_tenant and Schedule.objects.filter(tenant=tenant).count() >= most:
        raise InvalidRequest("name", f"the tenant has {most:,} schedules, which is the limit; delete one first")
    schedule = Schedule(tenant=tenant, by_tenant=by_tenant, starts_at=store.database_now(), **_given(fields))
    return _store(schedule)


@transaction.atomic
def change(schedule: Schedule, **fields: Any) -> Schedule:
    """Store these fields; it is due anew, from now on. Raises InvalidRequest, naming the field."""
    schedule = _locked(schedule)
    for name, value in _given(fields).items():
        setattr(schedule, name, value)
    return _store(schedule)


def pause(schedule: Schedule) -> Schedule:
    """Nothing is due any more, until it is resumed; what was due meanwhile is not made good."""
    return change(schedule, paused=True, paused_because="")


def resume(schedule: Schedule) -> Schedule:
    """Due again from now on. Raises InvalidRequest if its call is not possible."""
    return change(schedule, paused=False, paused_because="")


def delete(schedule: Schedule) -> None:
    """It, and the list of its runs; their jobs stay."""
    schedule.delete()


@transaction.atomic
def run_now(schedule: Schedule) -> int:
    """One job beside the plan, also of a paused schedule; its id. Raises InvalidRequest and TooManyWaiting."""
    schedule = _locked(schedule)
    now = store.database_now()
    store.take_due_times([Run(schedule.pk, now)])
    job_id = submit(request_of(schedule)).id
    store.note_runs([Run(schedule.pk, now, job_id, "Run by hand.")])
    return job_id


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """What was said; of "since when", nothing means now."""
    return {name: value for name, value in fields.items() if name != "starts_at" or value is not None}


def _locked(schedule: Schedule) -> Schedule:
    return Schedule.objects.select_for_update(no_key=True, of=("self",)).get(pk=schedule.pk)


def _store(schedule: Schedule) -> Schedule:
    _check(schedule)
    now = store.database_now()
    due = None if schedule.paused else first_due(schedule, now)
    with transaction.atomic():
        if schedule._state.adding:
            schedule.save()  # its number decides about its part of the jitter
        schedule.next_due, schedule.next_at = due, at(schedule.pk, schedule, due)
        schedule.save()
        store.wake_clock()
    return schedule


def _check(schedule: Schedule) -> None:
    for name in ("starts_at", "ends_at"):
        moment = getattr(schedule, name)
        if isinstance(moment, datetime) and timezone.is_naive(moment):
            raise InvalidRequest(name, "needs a time zone, for example 2030-01-31T09:00:00+01:00")
    if schedule.ends_at is not None and schedule.ends_at <= schedule.starts_at:
        raise InvalidRequest("ends_at", "must be after its start")
    try:
        first_due(schedule, store.database_now())
    except InvalidRecurrence as error:
        raise InvalidRequest(error.field, error.message) from None
    if not 0 <= schedule.jitter <= LONGEST:
        raise InvalidRequest("jitter", f"must be a number of seconds from 0 to {LONGEST:.0f}, not {schedule.jitter!r}")
    if not schedule.paused:
        request_of(schedule)
    try:
        schedule.full_clean(exclude=["tenant", "args", "created_at", "starts_at"], validate_constraints=False)
    except ValidationError as error:
        field, told = next(iter(error.message_dict.items()))
        raise InvalidRequest(field, " ".join(told)) from None
    others = Schedule.objects.filter(tenant_id=schedule.tenant_id, name=schedule.name).exclude(pk=schedule.pk)
    if others.exists():
        raise InvalidRequest("name", f"there is a schedule {schedule.name!r} already")
