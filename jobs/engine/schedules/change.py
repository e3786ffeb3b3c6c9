"""The actions of people on a tenant's schedules: add, change, pause, resume, delete, run now."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction

from jobs import store
from jobs.calls.refusals import InvalidRequest
from jobs.conf import settings
from jobs.engine.schedules.call import CALL, request_of
from jobs.engine.schedules.check import check, name_taken
from jobs.engine.schedules.plan import first_due, move
from jobs.engine.submitting.submit import submit
from jobs.models import Schedule, ScheduleRun
from tenants import audit
from tenants.models import Tenant
from tenants.tenant_model import lock_tenant


@transaction.atomic
def add(tenant: Tenant, *, by_tenant: bool = False, **fields: Any) -> Schedule:
    """Add a schedule, which is due from now on. Raises InvalidRequest, naming the field.

    by_tenant: whether its tenant adds it, so that the tenant's permissions apply.
    fields: those of the model, with `every`, or with `cron` and `tz`.
    """
    if by_tenant:
        limit = settings.JOBS_MAX_SCHEDULES
        lock_tenant(tenant)
        if Schedule.objects.filter(tenant=tenant, declared=False).count() >= limit:
            raise InvalidRequest("name", f"the tenant has {limit:,} schedules, which is the limit; delete one first")
    given = {"starts_at": store.database_now()} | _given(fields)
    return _store(Schedule(tenant=tenant, by_tenant=by_tenant, **given))


@transaction.atomic
def change(schedule: Schedule, **fields: Any) -> Schedule:
    """Store these fields. With another rule the due times start anew from now on; else the next due time stays.

    Raises InvalidRequest, naming the field, and Schedule.DoesNotExist if the schedule was deleted.
    """
    schedule = _locked(schedule)
    rule = _rule(schedule)
    for name, value in _given(fields).items():
        setattr(schedule, name, value)
    call = not schedule.paused or not fields.keys().isdisjoint(CALL)
    return _store(schedule, call=call, anew=_rule(schedule) != rule)


def pause(schedule: Schedule) -> Schedule:
    """Stop the due times until the schedule is resumed; due times meanwhile are not made up for.

    Raises Schedule.DoesNotExist.
    """
    return change(schedule, paused=True, paused_because="")


def resume(schedule: Schedule) -> Schedule:
    """Make the schedule due again from now on.

    Raises Schedule.DoesNotExist, and InvalidRequest if its call is not possible.
    """
    return change(schedule, paused=False, paused_because="")


@transaction.atomic
def delete(schedule: Schedule) -> None:
    """Delete a schedule with the list of its runs; the jobs stay. Raises Schedule.DoesNotExist."""
    _locked(schedule).delete()


@transaction.atomic
def run_now(schedule: Schedule) -> int:
    """Submit one extra job, even of a paused schedule; return its id.

    Raises InvalidRequest, TooManyWaiting and Schedule.DoesNotExist.
    """
    schedule = _locked(schedule)
    now = store.database_now()
    job_id = submit(request_of(schedule)).id
    ran = {"job_id": job_id, "note": "Run by hand."}
    ScheduleRun.objects.update_or_create(schedule=schedule, due=now, defaults=ran)
    audit.note("run by hand", Schedule, [(schedule.pk, schedule.name)], tenant_id=schedule.tenant_id)
    return job_id


def replacing(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Complete the given fields: a cron expression replaces `every`, and the reverse."""
    if fields.get("cron") and "every" not in fields:
        return {**fields, "every": None}
    if fields.get("every") is not None and "cron" not in fields:
        return {**fields, "cron": ""}
    return dict(fields)


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given fields without a `starts_at` of None, which means now."""
    return {name: value for name, value in fields.items() if name != "starts_at" or value is not None}


def _locked(schedule: Schedule) -> Schedule:
    return Schedule.objects.select_for_update(no_key=True, of=("self",)).get(pk=schedule.pk)


def _rule(schedule: Schedule) -> list[Any]:
    return [getattr(schedule, name) for name in ("every", "cron", "tz", "starts_at", "ends_at", "paused")]


def _store(schedule: Schedule, *, call: bool = True, anew: bool = True) -> Schedule:
    check(schedule, call=call)
    due = schedule.next_due
    if anew:
        rests = schedule.paused or schedule.undeclared_at is not None
        due = None if rests else first_due(schedule, store.database_now())
    try:
        with transaction.atomic():
            if schedule._state.adding:
                schedule.save()  # its number decides its part of the jitter
            move(schedule, due)
            schedule.save()
    except IntegrityError as error:
        if "schedules_once" not in str(error):
            raise
        raise name_taken(schedule) from None  # another transaction was faster
    return schedule
