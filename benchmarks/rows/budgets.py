"""budgets: the CPU time and the memory of the simulator: of an attempt, a replay and a forecast. No worker runs.

The mix is that of the row `coverage`, a little below what its processes can do. A forecast begins with long lines.
"""

import gc
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from resource import RUSAGE_SELF, getrusage
from time import process_time
from typing import Any

import psutil

from benchmarks import coverage
from benchmarks.bars import Bar, Figures
from jobs.allocation.world import IdleGaps, SimulatedJob, World
from jobs.insight.forecasting import queue_depth
from jobs.insight.forecasting.far_estimates import PRIORITY
from jobs.insight.forecasting.replay.limits import books_of
from jobs.insight.forecasting.replay.record import POOL, QUEUE, TENANT, WARM, Change, PastAttempt, Record
from jobs.insight.forecasting.replay.replay import Replay
from jobs.insight.forecasting.runs import NEWEST, SPREAD, collected
from jobs.insight.forecasting.simulation import Odds, Simulation, stretches
from jobs.insight.forecasting.snapshot import ComingJob, InLine, Snapshot

ATTEMPTS, LOAD, SLOTS = 100_000, (0.85, 0.95), 4
IDLE_GAPS = IdleGaps(between=0.02, handover=0.02)
WAITING, READ = 100_000, {100: 40, 1_000: 5}  # jobs in line, in all; and by the number of lines, those read of each
DRAWS, STARTS, COMING = 9, 800, 3_000
TYPE, NORMAL = "benchmarks.mix", 5 << PRIORITY
NEW: dict[str, Any] = {"id": 1, "pool": "default", "head": 0, "circle_end": 0, "mean_seconds": coverage.MEAN}

ATTEMPT, REPLAY, MEMORY, FORECAST = "simulated attempt, us", "replay, s", "replay, MB", "forecast of {:,} lines, s"
OURS = "ours"
BARS = [
    Bar(of=(ATTEMPT, OURS), at_most=60),
    Bar(of=(REPLAY, OURS), at_most=8),
    Bar(of=(MEMORY, OURS), at_most=200),
    *(Bar(of=(FORECAST.format(lines), OURS), at_most=0.6) for lines in READ),
]


def measure(_directory: Path) -> Figures:
    """Seconds are those of the processor. Memory is what a process needs more at most, with the record."""
    before = psutil.Process().memory_info().rss
    record, attempt = worked()
    replay = _seconds(Replay(record, IDLE_GAPS).waits)
    memory = getrusage(RUSAGE_SELF).ru_maxrss * 1024 - before
    return {
        ATTEMPT: {OURS: attempt * 1e6},
        REPLAY: {OURS: replay},
        MEMORY: {OURS: memory / 1e6},
        **{FORECAST.format(lines): {OURS: forecast(lines)} for lines in READ},
    }


def worked() -> tuple[Record, float]:
    """What the record of the mix would be, had it run as it is simulated; and the seconds of each attempt."""
    begin = -2 * WARM
    limits = [Change(begin, POOL, "default", {"processes": coverage.PROCESSES}), Change(begin, QUEUE, 1, {"weight": 1})]
    for tenant in range(coverage.TENANTS):
        limits.append(Change(begin, TENANT, tenant, {"num_slots": SLOTS} | coverage.LIMITS.get(tenant, {})))
    books, _ = books_of(Record(0.0, (), limits), {})
    jobs = list(islice(_submitted(), ATTEMPTS))
    world = World(books, now=0.0, idle_gaps=IDLE_GAPS, coming=jobs)
    took = _seconds(lambda: _run(world))
    past = [_past(n, job, job.started_at or 0.0) for n, job in enumerate(jobs)]
    return Record(jobs[-1].ready_at, past, limits), took / len(jobs)


def _submitted() -> Iterator[SimulatedJob]:
    seconds, n = ATTEMPTS * coverage.MEAN / coverage.PROCESSES / LOAD[0], 0
    for burst in coverage.mix(Random(7), seconds, LOAD):  # noqa: S311 - the same in every run
        for body in burst.bodies:
            n += 1
            place = (burst.priority << PRIORITY) + n
            yield SimulatedJob(
                place=place, tenant=burst.tenant, queue=1, user=burst.user, ready_at=burst.at, seconds=body
            )


def _run(world: World) -> None:
    while world.step():
        world.started.clear()


def _past(n: int, job: SimulatedJob, started: float) -> PastAttempt:
    return PastAttempt(
        **{"job_id": n, "tenant_id": job.tenant, "queue_id": job.queue, "place": job.place, "user": job.user},
        **{"job_type": TYPE, "process": None, "left_at": None, "good": True, "ready_at": job.ready_at},
        **{"claimed_at": started - IDLE_GAPS.handover, "started_at": started, "ended_at": started + job.seconds},
    )


def forecast(lines: int) -> float:
    """The seconds of the draws of a forecast, in whose lines so many tenants have jobs."""
    gc.collect()
    gc.freeze()  # as the worker does whose recorder forecasts: jobs/worker/bootstrap.py
    random = Random(5)  # noqa: S311
    runs = collected(
        _past(0, SimulatedJob(place=0, tenant=tenant, queue=1, seconds=random.lognormvariate(-0.83, 0.8)), 0.0)
        for tenant in range(lines)
        for _ in range(NEWEST)
    )
    odds, present = Odds(runs, random, IDLE_GAPS, SPREAD), scene(lines, random)
    return _seconds(lambda: _draw(present, odds))


def _draw(present: Snapshot, odds: Odds) -> None:
    lines = stretches(present, {}, queue_depth.standing(present, STARTS))
    for _ in range(DRAWS):
        Simulation(present, odds, lines, STARTS).starts()


def scene(lines: int, random: Random) -> Snapshot:
    """Long lines of so many tenants, and those who come."""
    tenants = range(lines)
    return Snapshot(
        pools={"default": coverage.PROCESSES},
        queues=[NEW],
        tenants=[{"id": tenant, "num_slots": SLOTS} for tenant in tenants],
        lanes={(tenant, 1): {"state": "ready", "position": tenant << 20, "head": NORMAL} for tenant in tenants},
        waiting={(tenant, 1): WAITING // lines for tenant in tenants},
        in_line=[
            InLine(nth, tenant, 1, NORMAL + nth * lines + tenant, nth, "", TYPE, -60.0)
            for tenant in tenants
            for nth in range(1, READ[lines] + 1)
        ],
        arrived=[ComingJob(0.1 * n, random.choice(tenants), 1, 5, "", TYPE) for n in range(COMING)],
    )


def _seconds(what: Callable[[], object]) -> float:
    begin = process_time()
    what()
    return process_time() - begin
