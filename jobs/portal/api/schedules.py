"""The endpoints of schedules of the caller's tenant; another tenant's schedule looks as if it did not exist."""

from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from ninja import Query, Router
from ninja import Status as Answer

from jobs import models
from jobs.engine.schedules import change
from jobs.http import idempotency, inputs, pages, schemas
from jobs.http.auth import CallerRequest
from jobs.http.codes import ProblemCode
from jobs.http.problems import ProblemError, existing
from jobs.portal.api import schedule_inputs, schedule_schemas
from jobs.reading import queries, schedule_view

router = Router(tags=["schedules"])


@router.get("schedules", url_name="schedules", response=schedule_schemas.SchedulePage)
def list_schedules(request: CallerRequest, wanted: Query[schedule_inputs.WantedSchedules]) -> dict[str, Any]:
    """List your schedules, by name, a page at a time."""
    matching = queries.schedules(request.auth.tenant.pk).defer("args")
    schedules, later = pages.page(matching, reverse("jobs_api:schedules"), wanted, by="name")
    return {"schedules": [schedule_schemas.listed(schedule) for schedule in schedules], "next": later}


@router.post("schedules", response={201: schedule_schemas.Schedule}, openapi_extra=idempotency.PARAMETER)
@idempotency.repeatable
def create_schedule(request: CallerRequest, wanted: schedule_inputs.NewSchedule) -> HttpResponse:
    """Create a schedule: it submits a job at each due time from now on."""
    schedule = change.add(request.auth.tenant, by_tenant=True, **wanted.model_dump())
    address = reverse("jobs_api:schedule", kwargs={"schedule_id": schedule.pk})
    return schemas.answer(201, schedule_schemas.whole(schedule), address)


@router.post("schedules/preview", response=schedule_schemas.RulePreview)
@idempotency.keeping
def preview_rule(request: CallerRequest, rule: schedule_inputs.ScheduleRule) -> dict[str, Any]:
    """Check a rule, and return its next due times; nothing is stored."""
    schedule = schedule_view.previewed(**rule.model_dump())
    return {"in_words": schedule_view.in_words(schedule), "next_times": schedule_view.next_times(schedule)}


@router.get("schedules/{schedule_id}", url_name="schedule", response=schedule_schemas.Schedule)
def read_schedule(request: CallerRequest, schedule_id: inputs.PathId) -> dict[str, Any]:
    """Read a schedule, with its last runs and next due times."""
    return schedule_schemas.whole(_schedule_of(request, schedule_id))


@router.patch("schedules/{schedule_id}", response={200: schedule_schemas.Schedule, 409: schemas.Problem})
def change_schedule(
    request: CallerRequest, schedule_id: inputs.PathId, wanted: schedule_inputs.ScheduleChange
) -> dict[str, Any]:
    """Change a schedule. A new rule counts from now on. 409: the code declares it."""
    schedule = _own_schedule_of(request, schedule_id)
    values = change.replacing(wanted.model_dump(exclude_unset=True))
    if values:  # by_tenant: an operator's schedule may call any method, until its tenant changes it
        schedule = change.change(schedule, by_tenant=True, **values)
    return schedule_schemas.whole(schedule)


@router.delete("schedules/{schedule_id}", response={204: None, 409: schemas.Problem})
def delete_schedule(request: CallerRequest, schedule_id: inputs.PathId) -> Answer[None]:
    """Delete a schedule and the list of its runs; their jobs stay. 409: the code declares it."""
    change.delete(_own_schedule_of(request, schedule_id, even_if_undeclared=True))
    return Answer(204, None)


@router.post("schedules/{schedule_id}/pause", response=schedule_schemas.Schedule, openapi_extra=idempotency.PARAMETER)
@idempotency.repeatable
def pause_schedule(request: CallerRequest, schedule_id: inputs.PathId) -> HttpResponse:
    """Pause a schedule: it submits no job until it is resumed."""
    return schemas.answer(200, schedule_schemas.whole(change.pause(_schedule_of(request, schedule_id))))


@router.post("schedules/{schedule_id}/resume", response=schedule_schemas.Schedule, openapi_extra=idempotency.PARAMETER)
@idempotency.repeatable
def resume_schedule(request: CallerRequest, schedule_id: inputs.PathId) -> HttpResponse:
    """Resume a schedule from now on; missed times are not made up for. 422: its call is invalid now."""
    return schemas.answer(200, schedule_schemas.whole(change.resume(_schedule_of(request, schedule_id))))


@router.post(
    "schedules/{schedule_id}/run-now", response={202: schedule_schemas.StartedRun}, openapi_extra=idempotency.PARAMETER
)
@idempotency.repeatable
def run_schedule_now(request: CallerRequest, schedule_id: inputs.PathId) -> HttpResponse:
    """Submit one extra job of a schedule, even of a paused one. 429: your backlog is full."""
    job_id = change.run_now(_schedule_of(request, schedule_id))
    url = reverse("jobs_api:job", kwargs={"job_id": job_id})
    return schemas.answer(202, {"job_id": job_id, "url": url}, url)


def _schedule_of(request: CallerRequest, schedule_id: int) -> models.Schedule:
    return existing(queries.schedules(request.auth.tenant.pk).filter(pk=schedule_id).first(), "schedule")


def _own_schedule_of(request: CallerRequest, schedule_id: int, *, even_if_undeclared: bool = False) -> models.Schedule:
    """Return a schedule of the tenant. Raises ProblemError if the code declares it.

    even_if_undeclared: allow a schedule that the code has declared, but declares no longer.
    """
    schedule = _schedule_of(request, schedule_id)
    if schedule.is_of_the_code if even_if_undeclared else schedule.declared:
        allowed = "it can be paused, resumed and run, but neither changed nor deleted"
        raise ProblemError(ProblemCode.SCHEDULE_IN_CODE, f"The code declares this schedule: {allowed}.")
    return schedule
