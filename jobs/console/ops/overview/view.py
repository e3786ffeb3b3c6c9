"""The overview: how the work flows, and what holds it back."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from jobs.allocation.gates import Gate
from jobs.console.ops.overview.reads import past
from jobs.console.ops.shared import history, live, snapshot
from jobs.console.ops.shared.access import page_for
from jobs.console.ops.shared.history import Use
from jobs.console.ops.shared.marks import marks_of
from jobs.console.ops.shared.snapshot import Snapshot
from jobs.console.ops.shared.takers import Taker, takers
from jobs.reading.looking import Queue
from jobs.reading.standing import TenantStanding

MAX_BUSIEST = 10  # tenants: more, with their strips, would weigh more than 12 KB at each refresh
MAX_TAKERS = 4  # workers, tenants and job types each
MAX_QUEUES = 3  # that are named of those that hold jobs back in one way
OF_QUEUE = frozenset({Gate.QUEUE_PAUSED, Gate.QUEUE_HELD, Gate.QUEUE_FULL, Gate.QUEUE_RATE})
REGIONS = ("old", "incident", "numbers", "pools", "takers", "waits", "failing", "ended", "waited", "busiest")


@page_for("jobs.view_job")
def show(request: HttpRequest) -> HttpResponse:
    """Show the overview.

    `range`: the length of the charts, one of RANGES
    `until`: the minute (UTC) at which they end, if that is not now
    """
    present, use = snapshot.current(), history.use_of_last_hour()
    found = past(request.GET, reverse("jobs_ops:jobs"))
    regions = {
        "snapshot": present,
        "numbers": _numbers(present),
        "pools": [(pool, use.pools.get(pool.name)) for pool in present.pools],
        "takers": _takers(present),
        "waits": _waits(present),
        "busiest": _busiest(present, use),
        "past": found,
        "marks": marks_of(request, found.chart),
    }
    return live.page(request, "overview", "Overview", REGIONS, regions)


@dataclass(frozen=True)
class NumberTiles:
    """The numbers at the top.

    processes: the processes of all pools, or the seats of a light one
    units: the word for these: a process of an ordinary pool is one seat
    under_way: those in use: the table of pools adds up to it
    may_run: the jobs that only lack a process
    is_short: whether a pool has too few processes
    """

    processes: int
    units: str
    under_way: int
    may_run: int
    is_short: bool


def _numbers(present: Snapshot) -> NumberTiles:
    pools = present.pools
    return NumberTiles(
        processes=sum(pool.processes for pool in pools),
        units="seats" if any(pool.is_light for pool in pools) else "processes",
        under_way=sum(pool.in_use for pool in pools),
        may_run=sum(pool.may_run for pool in pools),
        is_short=any(pool.is_short for pool in pools),
    )


def _takers(present: Snapshot) -> list[tuple[str, list[Taker], int]]:
    """Return those that hold most processes, and the number of the others: by tenant, by type, by worker."""
    if not present.in_use:
        return []
    found = [(by, [one for one in takers(present, by) if one.in_use]) for by in ("tenant", "type", "worker")]
    return [(by, ones[:MAX_TAKERS], max(len(ones) - MAX_TAKERS, 0)) for by, ones in found]


@dataclass(frozen=True)
class WaitingAtGate:
    """The jobs that wait at a gate.

    could_start: how many of them would start at once with more processes
    opens_at: when the next token of its rate limits arrives
    queues: if queues hold them, those with the most of them
    """

    gate: Gate
    jobs: int
    could_start: int
    opens_at: datetime | None
    queues: Sequence[Queue]


@dataclass(frozen=True)
class WaitsByGate:
    """The gates at which jobs wait; `most` is the largest number of jobs at a gate."""

    gates: list[WaitingAtGate]
    most: int


def _waits(present: Snapshot) -> WaitsByGate:
    could_start = present.could_start
    held: dict[Gate, Counter[int]] = defaultdict(Counter)
    for cut in present.cuts:
        if cut.gate in OF_QUEUE:
            held[cut.gate][cut.queue_id] += cut.jobs
    gates = [
        WaitingAtGate(
            gate,
            jobs,
            could_start.get(gate, 0),
            present.opens_at(gate),
            [present.queues[pk] for pk, _ in held[gate].most_common(MAX_QUEUES)],
        )
        for gate, jobs in present.gates
    ]
    return WaitsByGate(gates, max((waiting.jobs for waiting in gates), default=0))


@dataclass(frozen=True)
class Busiest:
    """The tenants that need attention first.

    tenants: each with the strip of its slots in the last hour
    with_work: the number of all tenants with work
    fairness: Jain's fairness index; None if it is unknown
    """

    tenants: list[tuple[TenantStanding, str | None]]
    with_work: int
    fairness: float | None


def _busiest(present: Snapshot, use: Use) -> Busiest:
    tenants = [(standing, use.tenants.get(standing.tenant.id)) for standing in present.standings[:MAX_BUSIEST]]
    return Busiest(tenants, len(present.standings), history.fairness())
