"""Overview: does the work flow, and if not, what holds it?"""

from django.http import HttpRequest, HttpResponse

from jobs.dashboard import live, past, snapshot
from jobs.dashboard.access import page_for
from jobs.dashboard.gate_words import GATES
from jobs.dashboard.standing import standings
from jobs.engine.waits import PROCESS

BUSIEST = 15  # tenants: more would weigh more than 12 KB at each refresh
REGIONS = ("old", "numbers", "pools", "waits", "ended", "waited", "busiest")


@page_for("jobs.view_job")
def show(request: HttpRequest) -> HttpResponse:
    seen = snapshot.current()
    pools, gates = seen.pools, seen.gates
    tenants = standings(seen)
    shown = {
        "snapshot": seen,
        "pools": pools,
        "short": [(pool, pool.late or pool.may_run) for pool in pools if pool.is_short],
        "fairness": past.fairness.get(),
        "may_run": sum(pool.may_run for pool in pools),
        "processes": sum(pool.processes for pool in pools),
        "held": sum(one.held for one in seen.held),
        "gates": [(GATES[gate], jobs, gate in PROCESS) for gate, jobs in gates],
        "most": max((jobs for _, jobs in gates), default=0),
        "chart": past.last_hour.get(),
        "busiest": tenants[:BUSIEST],
        "with_work": len(tenants),
    }
    return live.page(request, "overview", "Overview", REGIONS, shown)
