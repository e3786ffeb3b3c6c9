"""Find the tenant, the queue, the pool or the workers that an operator names. A refusal lists the known names."""

from typing import Any

from django.db.models import QuerySet

from jobs.calls.refusals import InvalidRequest
from jobs.models import Queue, Worker
from tenants.conf import TENANT_SLUG
from tenants.models import Tenant
from tenants.tenant_model import all_tenants, tenant_of_slug

MAX_LISTED = 10  # known names in a refusal


def tenant_named(slug: str) -> Tenant:
    """Return the tenant with this slug. Raises InvalidRequest."""
    return tenant_of_slug(slug) or _unknown("tenant", slug, all_tenants().values_list(TENANT_SLUG))


def queue_named(name: str) -> Queue:
    """Return the queue of this name. Raises InvalidRequest."""
    return Queue.objects.filter(name=name).first() or _unknown("queue", name, Queue.objects.values_list("name"))


def pool_named(name: str) -> str:
    """Return the name, if a queue has this pool. Raises InvalidRequest."""
    pools = Queue.objects.order_by("pool").values_list("pool").distinct()
    return name if (name,) in pools else _unknown("pools", name, pools)


def workers_named(name: str) -> list[Worker]:
    """Return the workers of this name that are not gone; usually one. Raises InvalidRequest."""
    live = Worker.objects.filter(gone_at=None)
    return list(live.filter(name=name)) or _unknown("worker", name, live.values_list("name"))


def _unknown(field: str, name: str, known: "QuerySet[Any, tuple[str]]") -> Any:
    names = sorted(name for (name,) in known[: MAX_LISTED + 1])
    listed = ", ".join(names[:MAX_LISTED]) + (", …" if len(names) > MAX_LISTED else "")
    raise InvalidRequest(field, f"{name!r} is unknown; known: {listed or 'none'}")
