"""The limits that decide which jobs run, and the page that asks what others would have done (`jobs.insight`)."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from jobs.allocation import state
from jobs.console.operations.limits import OF_QUEUE, OF_TENANT
from plumbing.addresses import address
from tenants.by_name import as_text

TENANTS, QUEUES = "tenants", "queues"
LIMITS: Mapping[str, Sequence[str]] = {  # those that the books of a claim have
    TENANTS: [limit.name for limit in OF_TENANT if limit.name in state.Tenant.__dataclass_fields__],
    QUEUES: [limit.name for limit in OF_QUEUE if limit.name in state.Queue.__dataclass_fields__],
}
SUBJECTS = {TENANTS: "tenant", QUEUES: "queue"}  # in the address of the page


def question_address(kind: str, name: str, limits: Mapping[str, Any]) -> str:
    """Return the address of the page that asks, filled with these limits; "" in a project without that page."""
    if not (page := address("jobs_ops:what-if")):
        return ""
    given = {limit: _text(value) for limit, value in limits.items() if limit in LIMITS[kind]}
    return f"{page}?{urlencode({SUBJECTS[kind]: name} | given)}"


def _text(value: Any) -> Any:
    if isinstance(value, dict):
        return as_text(value)
    return "none" if value is None else value
