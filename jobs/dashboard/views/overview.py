"""Overview: does the work flow, and if not, what holds it?"""

from django.http import HttpRequest, HttpResponse

from jobs.dashboard import live, past, snapshot, waits
from jobs.dashboard.access import page_for
from jobs.dashboard.gate_words import GATES
from jobs.dashboard.standing import standings

BUSIEST = 20  # tenants
REGIONS = ("old", "numbers", "pools", "waits", "ended", "waited", "busiest")


@page_for("jobs.view_job")
def show(request: HttpRequest) -> HttpResponse:
    seen = snapshot.current()
    cuts = waits.cuts(seen)
    pools = waits.pools(seen, cuts)
    gates = waits.by_gate(cuts)
    tenants = standings(seen, cuts)
    shown = {
        "snapshot": seen,
        "pools": pools,
        "short": [pool for pool in pools if pool.may_run],
        "may_run": sum(pool.may_run for pool in pools),
        "processes": sum(pool.processes for pool in pools),
        "held": sum(one.held for one in seen.held),
        "gates": [(GATES[gate], jobs, gate in waits.PROCESS) for gate, jobs in gates],
        "most": max((jobs for _, jobs in gates), default=0),
        "chart": past.last_hour.get(),
        "busiest": tenants[:BUSIEST],
        "with_work": len(tenants),
    }
    return live.page(request, "overview", "Overview", REGIONS, shown)
