"""The page of tenants: those with work, with their state and what their jobs wait for; or all tenants by name."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from jobs.console.ops.shared import history, live, meanings, present_queries, snapshot
from jobs.console.ops.shared.access import page_for
from jobs.console.ops.shared.heat_map import HeatRow, heat_map, last_hours
from jobs.console.ops.shared.snapshot import Snapshot
from jobs.console.ops.tenants.reads import days_of, full_seconds
from jobs.console.ops.tenants.tenant_order import SORTS, in_order
from jobs.pages.typed import number, texts
from jobs.reading.looking import Tenant
from jobs.reading.standing import StandingState, TenantStanding, of_tenants
from plumbing.names import named
from tenants.conf import TENANT_NAME, TENANT_SLUG
from tenants.mirror import owns_tenants
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
    present = snapshot.current()
    name, state, sort = texts(request.GET, ("q", "state", "sort")).values()
    page = number(request.GET.get("page", ""), MAX_PAGE) or 0
    with_work = in_order(present.standings, sort)
    if sort == FULL:
        full = full_seconds()
        with_work = sorted(with_work, key=lambda standing: -full.get(standing.tenant.id, 0))
    chosen = [row for row in with_work if (not state or row.state == state) and _fits(row.tenant, name.lower())]
    every = state == "all" or (name and not chosen)
    chosen = _by_name(present, with_work, name, page) if every else chosen[page * A_PAGE :]
    listed = chosen[:A_PAGE]
    days = days_of(frozenset(standing.tenant.id for standing in listed))
    may_see_jobs = request.user.has_perm(named("jobs.view_job"))
    waits = [
        HeatRow(tenant.name, f"tenant:{tenant.slug}", days[tenant.id].hours)
        for tenant in (standing.tenant for standing in listed)
        if tenant.id in days
    ]
    regions = {
        "snapshot": present,
        "tenants": [(standing, days.get(standing.tenant.id)) for standing in listed],
        "heat": heat_map(waits, last_hours(history.minute()), reverse("jobs_ops:jobs") if may_see_jobs else ""),
        "with_work": len(with_work),
        "fairness": history.fairness(),
        "q": name,
        "state": state,
        "sort": sort,
        "sorts": [*SORTS, FULL],
        "states": [("", "all with work"), *(state.value for state in StandingState), ("all", "all tenants, by name")],
        "meanings": [(state.value, "", meaning) for state, meaning in meanings.TENANT_STATES.items()],
        "may_add_tenants": owns_tenants(),
        "earlier": page - 1 if page else None,
        "later": page + 1 if len(chosen) > A_PAGE else None,
    }
    return live.page(request, "tenants", "Tenants", ("old", "tenants", "heat"), regions)


def _fits(tenant: Tenant, name: str) -> bool:
    return name in tenant.name.lower() or name in tenant.slug


def _by_name(present: Snapshot, with_work: Sequence[TenantStanding], name: str, page: int) -> list[TenantStanding]:
    """Return a page of all tenants by name, and one tenant more if there is another page."""
    standings = {standing.tenant.id: standing for standing in with_work}
    tenants: Any = all_tenants().order_by(TENANT_NAME)
    if name:
        tenants = tenants.filter(Q(**{f"{TENANT_NAME}__icontains": name}) | Q(**{f"{TENANT_SLUG}__icontains": name}))
    ids = list(tenants.values_list("pk", flat=True)[page * A_PAGE : (page + 1) * A_PAGE + 1])
    missing = set(ids) - standings.keys()
    others = of_tenants(
        present_queries.tenants(missing).values(), present_queries.lanes_of(missing), present.queues, present.now
    )
    standings |= {standing.tenant.id: standing for standing in others}
    return [standings[pk] for pk in ids if pk in standings]
