"""The calls that schedules make, as checked requests."""

from collections.abc import Sequence

from jobs.calls import registry, sources
from jobs.calls.compose import compose_by_name
from jobs.calls.refusals import InvalidRequest
from jobs.calls.request import JobRequest
from jobs.models import Schedule
from tenants.tenant_model import all_tenants

CALL = ("source_type", "source_id", "source_method", "args", "queue", "priority")  # the fields of its call


def request_of(schedule: Schedule) -> JobRequest:
    """Return the call of the schedule, checked as for a submit now. Raises InvalidRequest."""
    (answer,) = requests_of([schedule])
    if isinstance(answer, InvalidRequest):
        raise answer
    return answer


def requests_of(schedules: Sequence[Schedule]) -> list[JobRequest | InvalidRequest]:
    """Return the call of each, or why it is refused. One query loads the tenants, and one the objects of a model."""
    tenants = all_tenants().select_related("jobs_queue").in_bulk({schedule.tenant_id for schedule in schedules})
    models = registry.source_types()
    find = sources.find_all(
        (registry.home(models[schedule.source_type], schedule.source_method), schedule.source_id, schedule.tenant_id)
        for schedule in schedules
        if schedule.source_type in models and schedule.source_id is not None
    )
    answers: list[JobRequest | InvalidRequest] = []
    for schedule in schedules:
        call = {name: getattr(schedule, name) for name in CALL}
        try:
            tenant = tenants.get(schedule.tenant_id)
            if tenant is None:
                raise InvalidRequest("tenant", "is gone")
            answers.append(compose_by_name(tenant, **call, by_tenant=schedule.by_tenant, find=find, dedup=False))
        except InvalidRequest as error:
            answers.append(error)
    return answers
