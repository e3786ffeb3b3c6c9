"""The price of cells: one installation beside several with a part of its processes and tenants each. A simulation.

    python -m benchmarks.cells

Each tenant submits in bursts and has slots; a free process takes the job of the tenant that was served least. What a
job waits for a process, although its tenant has a free slot, is what idle processes of another cell could spare it.
It needs neither a database nor Django, and gives the same figures every time.
"""

import heapq
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

TENANTS, PROCESSES, SECONDS = 200, 64, 1200.0
ZIPF = 1.1  # of the tenants' loads
BURST = 20  # jobs that a tenant submits at once, on average
RUN = (-0.5, 1.0)  # lognormal: a second on average, some run for ten
SPARE = 3  # a tenant's slots, as a multiple of what it uses on average; at least two


@dataclass
class Tenant:
    """load: processes that it keeps busy on average. ready: the moments since which its startable jobs wait."""

    load: float
    slots: int
    used: float = 0.0
    running: int = 0
    waiting: deque[float] = field(default_factory=deque)
    ready: deque[tuple[float, float]] = field(default_factory=deque)


@dataclass(frozen=True)
class Figures:
    """busiest: the load of the busiest cell. p95, p99: seconds that jobs waited for a process."""

    cells: int
    busiest: float
    p95: float
    p99: float


def figures(cells: int, load: float, *, balanced: bool) -> Figures:
    """load: of all processes, 0 to 1. balanced: tenants are divided by their loads; else at random."""
    chance = Random(7)  # noqa: S311 - a repeatable simulation
    loads = shares(load * PROCESSES)
    jobs = [_jobs(load_of_tenant, chance) for load_of_tenant in loads]
    divided = divide(loads, cells, balanced=balanced)
    processes = PROCESSES // cells
    waits: list[float] = []
    for members in divided:
        waits += run([loads[tenant] for tenant in members], [jobs[tenant] for tenant in members], processes)
    waits.sort()
    busiest = max(sum(loads[tenant] for tenant in members) for members in divided) / processes
    return Figures(cells, busiest, waits[int(len(waits) * 0.95)], waits[int(len(waits) * 0.99)])


def shares(whole: float) -> list[float]:
    """The loads of the tenants, the largest first."""
    weights = [1 / rank**ZIPF for rank in range(1, TENANTS + 1)]
    return [whole * weight / sum(weights) for weight in weights]


def divide(loads: Sequence[float], cells: int, *, balanced: bool) -> list[list[int]]:
    """The tenants of each cell. Every tenant is in one."""
    members: list[list[int]] = [[] for _ in range(cells)]
    order = list(range(len(loads)))
    if not balanced:
        Random(5).shuffle(order)  # noqa: S311
        for place, tenant in enumerate(order):
            members[place % cells].append(tenant)
        return members
    for tenant in order:  # the largest first, each into the emptiest cell
        min(members, key=lambda cell: sum(loads[other] for other in cell)).append(tenant)
    return members


def _jobs(load: float, chance: Random) -> list[tuple[float, float]]:
    """(moment of the submit, seconds to run) of a tenant's jobs."""
    jobs: list[tuple[float, float]] = []
    rate = load / BURST  # bursts a second, since a job runs for a second on average
    at = chance.expovariate(rate)
    while at < SECONDS:
        jobs += [(at, chance.lognormvariate(*RUN)) for _ in range(1 + int(chance.expovariate(1 / (BURST - 1))))]
        at += chance.expovariate(rate)
    return jobs


def run(loads: Sequence[float], jobs: Sequence[Sequence[tuple[float, float]]], processes: int) -> list[float]:
    """The seconds that each job waited for a process while its tenant had a slot for it."""
    tenants = [Tenant(load, max(2, round(SPARE * load))) for load in loads]
    events = [(at, 0, place, seconds) for place, mine in enumerate(jobs) for at, seconds in mine]
    heapq.heapify(events)
    turns: list[tuple[float, int]] = []  # of tenants that may have a startable job; some entries are out of date
    waits: list[float] = []
    while events:
        now, ended, place, seconds = heapq.heappop(events)
        tenant = tenants[place]
        if ended:
            processes += 1
            tenant.running -= 1
        else:
            tenant.waiting.append(seconds)
        _fill(tenant, now)
        heapq.heappush(turns, (tenant.used, place))
        while processes and turns:
            used, first = heapq.heappop(turns)
            served = tenants[first]
            if not served.ready or used != served.used:
                continue
            since, seconds = served.ready.popleft()
            waits.append(now - since)
            processes -= 1
            served.running += 1
            served.used += seconds
            heapq.heappush(turns, (served.used, first))
            heapq.heappush(events, (now + seconds, 1, first, 0.0))
    return waits


def _fill(tenant: Tenant, now: float) -> None:
    """Jobs for which the tenant has a slot are startable."""
    while tenant.waiting and tenant.running + len(tenant.ready) < tenant.slots:
        tenant.ready.append((now, tenant.waiting.popleft()))


def table() -> str:
    """The figures, as docs/sizing.md shows them."""
    lines = [
        "| load | cells | tenants divided | busiest cell | p95, s | p99, s |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for load in (0.5, 0.7, 0.85):
        for cells, balanced in ((1, True), (2, True), (4, True), (8, True), (4, False), (8, False)):
            result = figures(cells, load, balanced=balanced)
            how = "–" if cells == 1 else "by load" if balanced else "at random"
            lines.append(
                f"| {load:.0%} | {cells} | {how} | {result.busiest:.0%} | {result.p95:.1f} | {result.p99:.1f} |"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
