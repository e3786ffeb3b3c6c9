"""Find tenants, queues, job types and workers by a part of their names: for suggestions, and for the page "Find".

Each look is bounded: MOST of a kind, with the time limit of all looks.
"""

from collections.abc import Iterable

from django.db.models import Q

from jobs.console.ops.shared import snapshot
from jobs.console.ops.shared.known_types import known_types
from jobs.reading.looking import looking
from tenants.conf import TENANT_NAME, TENANT_SLUG
from tenants.models import Tenant
from tenants.tenant_model import all_tenants

MOST = 8
MAX_PART = 200  # characters


def tenants(part: str) -> list[Tenant]:
    """Return the tenants with this in their slug or name, by slug."""
    if not 0 < len(part) <= MAX_PART:
        return []
    named = Q(**{f"{TENANT_SLUG}__icontains": part}) | Q(**{f"{TENANT_NAME}__icontains": part})
    with looking():
        return list(all_tenants().filter(named).order_by(TENANT_SLUG)[:MOST])


def queues(part: str) -> list[str]:
    return _with(part, (queue.name for queue in snapshot.current().queues.values()))


def job_types(part: str) -> list[str]:
    return _with(part, known_types())


def workers(part: str) -> list[str]:
    return _with(part, {worker.name for worker in snapshot.current().workers if worker.gone_at is None})


def _with(part: str, names: Iterable[str]) -> list[str]:
    """Return the names with this part; those that begin with it come first."""
    lowered = part.lower()
    found = sorted(name for name in names if lowered in name.lower())
    return sorted(found, key=lambda name: not name.lower().startswith(lowered))[:MOST]
