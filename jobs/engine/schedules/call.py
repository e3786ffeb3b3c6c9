"""The call that a schedule makes, as a checked request."""

from jobs.calls.compose import compose_by_name
from jobs.calls.request import JobRequest
from jobs.models import Schedule
from jobs.store import DueSchedule
from tenants.tenant_model import all_tenants

CALL = ("source_type", "source_id", "source_method", "args", "queue", "priority")  # what it calls, and how


def request_of(schedule: Schedule | DueSchedule) -> JobRequest:
    """The call that it makes, checked as if somebody submitted it now. Raises InvalidRequest."""
    tenant = all_tenants().select_related("queue").get(pk=schedule.tenant_id)
    call = {name: getattr(schedule, name) for name in CALL}
    return compose_by_name(tenant, **call, by_tenant=schedule.by_tenant, dedup=False)
