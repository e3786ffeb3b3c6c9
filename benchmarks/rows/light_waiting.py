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
    with stage.playing(directory, "worker", side.worker(PROCESSES)) as worker:
        wait_until(lambda: bells.tallied() >= counted + WARM, "the first jobs have run")
        time.sleep(SETTLE)
        children, parent = _private(worker)
        begun = time.time()
        side.store("arest", range(ATTEMPTS), seconds=SECONDS)
        bells.wait(ATTEMPTS)
        under_way = max(ring.moment for ring in bells.heard()) - begun
        children_full, parent_full = _private(worker)
        count = sessions.others() - before
    each = (children_full - children) / ATTEMPTS / KIB
    figures = {UNDER_WAY: under_way, EACH: each, WHOLE: each + (parent_full - parent) / ATTEMPTS / KIB, SESSIONS: count}
    return {what: {"ours": value} for what, value in figures.items()}


def _private(worker: Process) -> tuple[int, int]:
    """The private bytes of the worker's processes, and those of their parent."""
    parent = psutil.Process(worker.pid)
    children = sum(child.memory_full_info().uss for child in parent.children())
    return children, parent.memory_full_info().uss
