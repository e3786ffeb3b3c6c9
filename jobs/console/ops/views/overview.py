"""The overview: how the work flows, and what holds it back."""

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from jobs.console.ops import history_charts, live, snapshot
from jobs.console.ops.access import page_for
from jobs.console.ops.tenant_order import standings
from jobs.reading.waits import PROCESS

BUSIEST = 10  # tenants: more, with their strips, would weigh more than 12 KB at each refresh
REGIONS = ("old", "numbers", "pools", "waits", "ended", "waited", "busiest", "failing")


@page_for("jobs.view_job")
def show(request: HttpRequest) -> HttpResponse:
    """Show the overview.

    `range`: the length of the charts, one of past.RANGES
    `until`: the minute (UTC) at which they end, if that is not now
    """
    seen = snapshot.current()
    pools, gates = seen.pools, seen.gates
    tenants = standings(seen)
    in_use = history_charts.use_of_last_hour()
    shown = {
        "snapshot": seen,
        "pools": [(pool, in_use.pools.get(pool.name)) for pool in pools],
        "short": any(pool.is_short for pool in pools),
        "fairness": history_charts.fairness(),
        "may_run": sum(pool.may_run for pool in pools),
        "processes": sum(pool.processes for pool in pools),
        "under_way": sum(one.slots for one in seen.in_use),
        "gates": [(gate, jobs, gate in PROCESS, seen.opens_at(gate)) for gate, jobs in gates],
        "most": max((jobs for _, jobs in gates), default=0),
        "busiest": [(one, in_use.tenants.get(one.tenant.id)) for one in tenants[:BUSIEST]],
        "with_work": len(tenants),
    }
    return live.page(request, "overview", "Overview", REGIONS, shown | _past(request))


def _past(request: HttpRequest) -> dict[str, Any]:
    length = request.GET.get("range", "")
    length = length if length in history_charts.RANGES else next(iter(history_charts.RANGES))
    step, count = history_charts.RANGES[length]
    until, now = _minute(request.GET.get("until", "")), history_charts.minute()
    until = until if until and now - history_charts.KEPT < until < now else None
    end, whole = until or now, step * count
    return {
        "length": length,
        "lengths": history_charts.RANGES,
        "bar": step.total_seconds(),
        "chart": history_charts.drawn(length, until, reverse("jobs_ops:jobs")),
        "failing": history_charts.failing_in(length, until),
        "begin": _written(end - whole),
        "end": _written(end),
        "within": f"ended_since:{_written(end - whole)} ended_until:{_written(end)}",
        "until": until,
        "earlier": _written(end - whole / 2),
        "later": _written(end + whole / 2) if end + whole / 2 < now else None,
    }


def _minute(text: str) -> datetime | None:
    with suppress(ValueError, OverflowError):
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC).replace(second=0, microsecond=0)
    return None


def _written(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M}"
