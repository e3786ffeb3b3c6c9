"""Overview: does the work flow, and if not, what holds it?"""

from django.http import HttpRequest, HttpResponse

from jobs.console.ops import live, past, snapshot
from jobs.console.ops.access import page_for
from jobs.console.ops.tenant_state import standings
from jobs.reading.waits import PROCESS

BUSIEST = 10  # tenants: more, with their strips, would weigh more than 12 KB at each refresh
REGIONS = ("old", "numbers", "pools", "waits", "ended", "waited", "busiest", "failing")


@page_for("jobs.view_job")
def show(request: HttpRequest) -> HttpResponse:
    """`range`: of the charts, one of past.RANGES."""
    length = request.GET.get("range", "")
    length = length if length in past.RANGES else next(iter(past.RANGES))
    seen = snapshot.current()
    pools, gates = seen.pools, seen.gates
    tenants = standings(seen)
    in_use = past.use_of_last_hour()
    shown = {
        "snapshot": seen,
        "pools": [(pool, in_use.pools.get(pool.name)) for pool in pools],
        "short": any(pool.is_short for pool in pools),
        "fairness": past.fairness(),
        "may_run": sum(pool.may_run for pool in pools),
        "processes": sum(pool.processes for pool in pools),
        "under_way": sum(one.slots for one in seen.in_use),
        "gates": [(gate, jobs, gate in PROCESS, seen.opens_at(gate)) for gate, jobs in gates],
        "most": max((jobs for _, jobs in gates), default=0),
        "length": length,
        "lengths": past.RANGES,
        "bar": past.RANGES[length][0] // past.MINUTE,
        "chart": past.drawn(length),
        "failing": past.last_hour().failing,
        "busiest": [(one, in_use.tenants.get(one.tenant.id)) for one in tenants[:BUSIEST]],
        "with_work": len(tenants),
    }
    return live.page(request, "overview", "Overview", REGIONS, shown)
