"""door: the decisions per second of one PostgreSQL, with 8 to 64 dispatchers, no broker and no bodies.

Each dispatcher takes a claimed job, ends it, and dispatches, like a process of a worker. "32 + 1,000": 32 dispatchers,
while 1,000 further jobs run on.
"""

import multiprocessing
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import connection

from benchmarks import databases, dead_rows, fill, finishing
from benchmarks.bars import Bar, Figures
from benchmarks.cpu import Meter
from jobs import store
from jobs.engine.door import dispatch
from jobs.engine.process import runtime
from jobs.store import Claimed, Ending, Keeper, Seat, Started
from tests.waiting import wait_until


@dataclass(frozen=True)
class Setting:
    """running: jobs that do not end. slots: of each tenant. told: at the end of the names of its figures."""

    dispatchers: int
    running: int
    tenants: int
    slots: int
    label: str = ""


SETTINGS = (
    Setting(8, 0, tenants=100, slots=8),
    Setting(32, 1_000, tenants=100, slots=20, label=", 32 + 1,000"),
    Setting(64, 4_000, tenants=400, slots=20, label=", 64 + 4,000"),
)
BACKLOG = 100_000
WINDOW = 12.0  # seconds

RATE, BATCH = "jobs decided/s", "jobs per pass"  # of passes that found any
DATABASE, OUTSIDE = "CPU ms/job, database", "CPU ms/job, outside"
DEAD = "dead rows/job"
BARS = [Bar(of=(RATE + setting.label, "ours"), at_least=800) for setting in SETTINGS if setting.running]

fork = multiprocessing.get_context("fork")


def measure(directory: Path) -> Figures:
    """The figures of all dispatchers together, after a warm-up."""
    figures: Figures = {}
    for setting in SETTINGS:
        databases.empty()
        figures |= {what + setting.label: {"ours": value} for what, value in _decided(setting).items()}
    return figures


def _decided(setting: Setting) -> dict[str, float]:
    tenants = fill.tenants(setting.tenants, slots=setting.slots)
    fill.waiting(tenants, BACKLOG)
    if setting.running:
        fill.running(tenants, setting.running, worker=finishing.WORKER)
    finishing.register(setting.dispatchers + setting.running)
    dead = dead_rows.count()
    line, ended = fork.SimpleQueue(), fork.Array("q", setting.dispatchers)
    counts = fork.Array("q", 2 * setting.dispatchers)  # of each: claimed jobs, and passes
    connection.close()  # before the fork: a connection has one owner
    dispatchers = [
        fork.Process(target=_dispatch, args=(place, line, counts, ended), daemon=True)
        for place in range(setting.dispatchers)
    ]
    for process in dispatchers:
        process.start()
    wait_until(lambda: all(ended), "each dispatcher ends a job")
    meter, begun, before = Meter(os.getpid()), time.monotonic(), counts[:]
    time.sleep(WINDOW)  # what is measured
    seconds, after = time.monotonic() - begun, counts[:]
    jobs, passes = (sum(after[kind::2]) - sum(before[kind::2]) for kind in (0, 1))
    if not jobs:
        raise AssertionError("Nothing was decided.")
    outside, database = meter.read(jobs)
    for process in dispatchers:
        process.kill()
        process.join()
    dead = dead_rows.count() - dead
    figures = {RATE: jobs / seconds, BATCH: jobs / passes, OUTSIDE: outside, DEAD: dead / sum(ended)}
    if database is not None:
        figures[DATABASE] = database
    return figures


def _dispatch(place: int, line: Any, counts: Any, ended: Any) -> None:
    """End the next claimed job and dispatch, for ever, like a process of a worker whose slice is over."""

    def carry(claimed: Sequence[Claimed]) -> None:
        for job in claimed:
            line.put(job)
        note(len(claimed), passes=1)

    def note(jobs: int, passes: int) -> None:
        counts[2 * place] += jobs
        counts[2 * place + 1] += passes

    runtime.change(carrier=carry)
    dispatch.dispatch()
    keeper = Keeper(fill.POOL, Seat(finishing.WORKER, os.getpid()))
    job: Started | Claimed | None = None
    while True:
        job = job or line.get()
        if isinstance(job, Claimed):
            job = store.start(job.id, job.attempt, store.Seat.here(finishing.WORKER))
        before = counts[2 * place + 1]
        job = dispatch.dispatch_and_keep(keeper, Ending(job, {}, None, None))
        ended[place] += 1
        if job is not None:
            note(1, passes=counts[2 * place + 1] == before)
