"""memory: the memory of a worker with four processes, before its first job and after some.

Private memory (USS) is not shared with other processes, so it is the cost of one more process. Resident memory (RSS)
counts shared pages once for each process.
"""

import time
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks import bells, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.ours import Ours
from benchmarks.contenders.plain import Plain
from tests.waiting import wait_until

PROCESSES, JOBS = 4, 200
BURST = 8  # jobs submitted at once, so that every process gets some; the first process would run single jobs
LOOK = 0.5  # seconds between two looks
STEADY = 0.5  # MiB: the most that two looks differ after a worker has settled
MIB = 2**20

PRIVATE, CHILD = "private MiB, {}", "private MiB of one, {}"
RESIDENT = "resident MiB, {}"
IDLE, USED = "no job yet", f"{JOBS} jobs later"

BARS = [Bar(of=(PRIVATE.format(USED), "ours"), to=(PRIVATE.format(USED), "Celery"), at_most=1.5)]


class Memory(NamedTuple):
    """MiB: of the parent and its processes, and the private ones of one process."""

    private: float
    resident: float
    child: float


def measure(directory: Path) -> Figures:
    """Each contender in turn."""
    figures: Figures = {}
    for contender in (Ours(), Plain()):
        contender.prepare()
        bells.forget()
        with stage.playing(directory, contender.name, contender.worker(PROCESSES)) as worker:
            idle = _settled(worker.pid)
            for first in range(0, JOBS, BURST):
                for n in range(first, first + BURST):
                    contender.submit(n)
                bells.wait(first + BURST)
            used = _settled(worker.pid)
        for when, memory in ((IDLE, idle), (USED, used)):
            for what, value in ((PRIVATE, memory.private), (CHILD, memory.child), (RESIDENT, memory.resident)):
                figures.setdefault(what.format(when), {})[contender.name] = value
    return figures


def _settled(worker: int) -> Memory:
    """Its memory when all its processes are running and two looks agree."""
    looks: list[Memory] = []

    def same() -> bool:
        if len(psutil.Process(worker).children()) < PROCESSES:
            return False
        looks.append(_memory(worker))
        time.sleep(LOOK)
        return len(looks) > 1 and abs(looks[-1].private - looks[-2].private) < STEADY

    wait_until(same, "its memory settles")
    return looks[-1]


def _memory(worker: int) -> Memory:
    parent = psutil.Process(worker)
    whole, *children = (process.memory_full_info() for process in (parent, *parent.children()))
    private = sum(child.uss for child in children)
    resident = whole.rss + sum(child.rss for child in children)
    return Memory((whole.uss + private) / MIB, resident / MIB, private / len(children) / MIB)
