"""The call that a schedule makes, as a checked request."""

from typing import Any, Protocol

from jobs.calls.compose import compose_by_name
from jobs.calls.request import JobRequest
from tenants.models import Tenant

CALL = ("source_type", "source_id", "source_method", "args", "queue", "priority")  # what it calls, and how


class Call(Protocol):
    """What a schedule says of its jobs: a row, or what was read of one."""

    @property
    def tenant_id(self) -> int: ...
    @property
    def by_tenant(self) -> bool: ...
    @property
    def source_type(self) -> str: ...
    @property
    def source_id(self) -> str | None: ...
    @property
    def source_method(self) -> str: ...
    @property
    def args(self) -> Any: ...
    @property
    def queue(self) -> str | None: ...
    @property
    def priority(self) -> int | None: ...


def request_of(schedule: Call) -> JobRequest:
    """The call that it makes, checked as if somebody submitted it now. Raises InvalidRequest."""
    tenant = Tenant.objects.select_related("queue").get(pk=schedule.tenant_id)
    call = {name: getattr(schedule, name) for name in CALL}
    return compose_by_name(tenant, **call, by_tenant=schedule.by_tenant, dedup=False)
