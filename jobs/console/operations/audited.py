"""The audit log as operators look for it."""

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from jobs.console.operations.filters import moment
from jobs.console.operations.named import tenant_named
from tenants.audit import about
from tenants.models import Change

FILTERS = ("tenant", "who", "kind", "subject_id", "since", "until")
FIELDS = (
    *("id", "at", "who", "key", "address", "actor_tenant_id", "tenant_id"),
    *("verb", "kind", "subject_id", "subject", "values"),
)


def changes(given: dict[str, Any]) -> QuerySet[Change]:
    """Those that fit what is given of FILTERS; None is nothing. Raises InvalidRequest."""
    wanted = {name: given[name] for name in FILTERS if given.get(name) is not None}
    found = Change.objects.filter(about(**{name: wanted[name] for name in wanted.keys() & {"kind", "subject_id"}}))
    if "tenant" in wanted:
        found = found.filter(tenant_id=tenant_named(wanted["tenant"]).pk)
    if "who" in wanted:
        found = found.filter(who=wanted["who"])
    if "since" in wanted:
        found = found.filter(at__gt=moment("since", wanted["since"], timezone.now()))
    if "until" in wanted:
        found = found.filter(at__lte=moment("until", wanted["until"], timezone.now()))
    return found


def document(change: Change) -> dict[str, Any]:
    """As JSON has it."""
    return {name: getattr(change, name) for name in FIELDS}
