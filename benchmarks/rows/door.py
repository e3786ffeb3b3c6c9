"""door: the decisions per second of one PostgreSQL, with eight dispatchers, no broker and no bodies.

Each dispatcher takes a claimed job, ends it, and dispatches, like a process of a worker.
"""

import multiprocessing
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.db import connection

from benchmarks import fill, finishing
from benchmarks.bars import Bar, Figures
from benchmarks.cpu import Meter
from jobs.engine import dispatch
from jobs.store import Claimed
from tests.waiting import wait_until

DISPATCHERS = 8
TENANTS, BACKLOG = 100, 100_000
WINDOW = 12.0  # seconds

RATE, BATCH = "jobs decided/s", "jobs per pass that found any"
DATABASE, OUTSIDE = "CPU ms/job, database", "CPU ms/job, dispatchers"
BARS: list[Bar] = []  # none: it shows the capacity of one installation

fork = multiprocessing.get_context("fork")


def measure(directory: Path) -> Figures:
    """The figures of all dispatchers together, after a warm-up."""
    fill.waiting(fill.tenants(TENANTS, slots=DISPATCHERS), BACKLOG)
    finishing.register(DISPATCHERS)
    line, counts = fork.SimpleQueue(), fork.Array("q", 2 * DISPATCHERS)
    connection.close()  # before the fork: a connection has one owner
    for place in range(DISPATCHERS):
        fork.Process(target=_dispatch, args=(place, line, counts), daemon=True).start()
    wait_until(lambda: all(counts[::2]), "each dispatcher claims")
    meter, begun, before = Meter(os.getpid()), time.monotonic(), counts[:]
    time.sleep(WINDOW)  # what is measured
    seconds, after = time.monotonic() - begun, counts[:]
    jobs, passes = (sum(after[kind::2]) - sum(before[kind::2]) for kind in (0, 1))
    if not jobs:
        raise AssertionError("Nothing was decided.")
    dispatchers, database = meter.read(jobs)
    for process in multiprocessing.active_children():
        process.kill()
    figures = {RATE: jobs / seconds, BATCH: jobs / passes, OUTSIDE: dispatchers}
    if database is not None:
        figures[DATABASE] = database
    return {what: {"ours": value} for what, value in figures.items()}


def _dispatch(place: int, line: Any, counts: Any) -> None:
    """End the next claimed job and dispatch, for ever."""

    def carry(claimed: Sequence[Claimed]) -> None:
        for job in claimed:
            line.put(job)
        counts[2 * place] += len(claimed)
        counts[2 * place + 1] += 1

    dispatch.connect(carry)
    dispatch.dispatch()
    while True:
        finishing.finish(line.get())
        dispatch.dispatch()
