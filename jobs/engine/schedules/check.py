"""Check whether a schedule may be stored. A refusal names the invalid field."""

from datetime import UTC, datetime

from django.core.exceptions import ValidationError
from django.utils import timezone

from jobs import store
from jobs.authoring.recurrence import InvalidRecurrence
from jobs.calls.arguments import check_text
from jobs.calls.refusals import InvalidRequest, by_field
from jobs.engine.schedules.call import request_of
from jobs.engine.schedules.plan import first_due
from jobs.engine.submitting.submit import check_queue
from jobs.models import Schedule
from plumbing.bounds import MAX_SECONDS

EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(3000, 1, 1, tzinfo=UTC)  # the calendar goes on beyond


def check(schedule: Schedule, *, call: bool) -> None:
    """Check a schedule. Raises InvalidRequest.

    call: whether to check also that its call is possible now.
    """
    check_times(schedule)
    check_text(schedule.name, "name")
    if call:
        check_queue(request_of(schedule))
    try:
        schedule.full_clean(exclude=["tenant", "args", "created_at", "starts_at"], validate_constraints=False)
    except ValidationError as error:
        raise InvalidRequest(*next(iter(by_field(error).items()))) from None
    others = Schedule.objects.filter(tenant_id=schedule.tenant_id, name=schedule.name).exclude(pk=schedule.pk)
    if others.exists():
        raise name_taken(schedule)


def check_times(schedule: Schedule) -> None:
    """Check only the times of a schedule. Raises InvalidRequest."""
    for name in ("starts_at", "ends_at"):
        moment = getattr(schedule, name)
        if isinstance(moment, datetime) and timezone.is_naive(moment):
            raise InvalidRequest(name, "needs a time zone, for example 2030-01-31T09:00:00+01:00")
    if not EARLIEST <= schedule.starts_at < LATEST:
        raise InvalidRequest("starts_at", f"must be in a year from {EARLIEST.year} to {LATEST.year - 1}")
    if schedule.ends_at is not None and schedule.ends_at <= schedule.starts_at:
        raise InvalidRequest("ends_at", "must be after its start")
    try:
        first_due(schedule, store.database_now())
    except InvalidRecurrence as error:
        raise InvalidRequest(error.field, error.message) from None
    if not 0 <= schedule.jitter <= MAX_SECONDS:
        raise InvalidRequest(
            "jitter", f"must be a number of seconds from 0 to {MAX_SECONDS:.0f}, not {schedule.jitter!r}"
        )


def name_taken(schedule: Schedule) -> InvalidRequest:
    """Return the refusal of a name that another schedule of the tenant has."""
    return InvalidRequest("name", f"there is a schedule {schedule.name!r} already")
