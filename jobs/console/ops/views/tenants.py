"""The page of tenants: those with work, with their state and what their jobs wait for; or all tenants by name."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse

from jobs.console.ops import history_charts, live, meanings, present_queries, snapshot
from jobs.console.ops.access import page_for
from jobs.console.ops.snapshot import Snapshot
from jobs.console.ops.tenant_order import ATTENTION, SORTS, standings
from jobs.pages.typed import number, texts
from jobs.reading.looking import Tenant
from jobs.reading.standing import StandingState, TenantStanding, of_tenants
from tenants.conf import TENANT_NAME, TENANT_SLUG
from tenants.tenant_model import all_tenants

MAX_PAGE = 99_999
A_PAGE = 40
FULL = "full, last 24 h"


@page_for("tenants.view_tenantqueue")
def show(request: HttpRequest) -> HttpResponse:
    """List the tenants.

    `q`: a part of a name
    `sort`: one of SORTS, or FULL
    `state`: one of StandingState; or "all" for all tenants by name
    """
    seen = snapshot.current()
    name, state, sort = texts(request.GET, ("q", "state", "sort")).values()
    page = number(request.GET.get("page", ""), MAX_PAGE) or 0
    with_work = standings(seen, sort if sort in SORTS else ATTENTION)
    if sort == FULL:
        full = history_charts.full()
        with_work = sorted(with_work, key=lambda one: -full.get(one.tenant.id, 0))
    chosen = [one for one in with_work if (not state or one.state == state) and _fits(one.tenant, name.lower())]
    every = state == "all" or (name and not chosen)
    chosen = _by_name(seen, with_work, name, page) if every else chosen[page * A_PAGE :]
    days = history_charts.days_of(frozenset(one.tenant.id for one in chosen[:A_PAGE]))
    shown = {
        "snapshot": seen,
        "tenants": [(one, days.get(one.tenant.id)) for one in chosen[:A_PAGE]],
        "with_work": len(with_work),
        "fairness": history_charts.fairness(),
        "q": name,
        "state": state,
        "sort": sort,
        "sorts": [*SORTS, FULL],
        "states": [("", "all with work"), *(one.value for one in StandingState), ("all", "all tenants, by name")],
        "meanings": [(state.value, "", meaning) for state, meaning in meanings.TENANT_STATES.items()],
        "earlier": page - 1 if page else None,
        "later": page + 1 if len(chosen) > A_PAGE else None,
    }
    return live.page(request, "tenants", "Tenants", ("old", "tenants"), shown)


def _fits(tenant: Tenant, name: str) -> bool:
    return name in tenant.name.lower() or name in tenant.slug


def _by_name(seen: Snapshot, with_work: Sequence[TenantStanding], name: str, page: int) -> list[TenantStanding]:
    """Return a page of all tenants by name, and one tenant more if there is another page."""
    working = {one.tenant.id: one for one in with_work}
    found: Any = all_tenants().order_by(TENANT_NAME)
    if name:
        found = found.filter(Q(**{f"{TENANT_NAME}__icontains": name}) | Q(**{f"{TENANT_SLUG}__icontains": name}))
    ids = list(found.values_list("pk", flat=True)[page * A_PAGE : (page + 1) * A_PAGE + 1])
    missing = set(ids) - working.keys()
    others = of_tenants(
        present_queries.tenants(missing).values(), present_queries.lanes_of(missing), seen.queues, seen.now
    )
    working |= {one.tenant.id: one for one in others}
    return [working[pk] for pk in ids if pk in working]
