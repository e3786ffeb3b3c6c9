"""light_waiting: 1,000 coroutines that await 20 s, in one worker of a light pool with two processes of 500 seats.

From the begin of the submit until all are under way; the private memory of the processes, beyond that of processes
that have run some jobs; the sessions of the worker.
"""

import time
from pathlib import Path

import psutil

from benchmarks import bells, sessions, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.light import Light
from embedded.process import Process
from tests.waiting import wait_until

TENANTS, SLOTS, SEATS, PROCESSES = 10, 100, 500, 2
ATTEMPTS, SECONDS = TENANTS * SLOTS, 20.0
WARM = 1_000  # jobs, since the first ones make pages of each process private
SETTLE = 2.0  # seconds, for what the warm jobs have left
KIB = 2**10

UNDER_WAY, SESSIONS = "all under way after, s", "sessions of the worker"
EACH, WHOLE = "private KiB of an attempt", "the same, with the parent's"

BARS = [
    Bar(of=(UNDER_WAY, "ours"), at_most=2, goal=0.5),
    Bar(of=(EACH, "ours"), at_most=40, goal=15),
    Bar(of=(SESSIONS, "ours"), at_most=24, goal=12),
]


def measure(directory: Path) -> Figures:
    """The figures of one round."""
    side = Light(TENANTS, SLOTS, SEATS)
    side.prepare()
    side.fill_with_nothing(WARM)
    bells.forget()
    before, counted = sessions.others(), bells.tallied()
    with stage.crew(directory, side.workers(PROCESSES)) as workers:
        wait_until(lambda: bells.tallied() >= counted + WARM, "the first jobs have run")
        time.sleep(SETTLE)
        children, parents = _private(workers)
        begun = time.time()
        side.store("arest", range(ATTEMPTS), seconds=SECONDS)
        bells.wait(ATTEMPTS)
        under_way = max(ring.moment for ring in bells.heard()) - begun
        children_full, parents_full = _private(workers)
        count = (sessions.others() - before) / len(workers)
    each = (children_full - children) / ATTEMPTS / KIB
    whole = each + (parents_full - parents) / ATTEMPTS / KIB
    figures = {UNDER_WAY: under_way, EACH: each, WHOLE: whole, SESSIONS: count}
    return {what: {"ours": value} for what, value in figures.items()}


def _private(workers: list[Process]) -> tuple[int, int]:
    """The private bytes of the workers' processes, and those of their parents."""
    parents = [psutil.Process(worker.pid) for worker in workers]
    children = [child for parent in parents for child in parent.children()]
    return _bytes(children), _bytes(parents)


def _bytes(processes: list[psutil.Process]) -> int:
    return sum(process.memory_full_info().uss for process in processes)
