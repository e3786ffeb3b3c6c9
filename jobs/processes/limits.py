"""Limits: the parent looks at what its processes run (see desk.py), and ends one that is over its time or its memory.

It also sees that one has died under a body: Celery tells us, too, but it may be waiting for a broker that stands still.

From outside, because a body that hangs in C, or allocates there, gives no thread of its own process a chance to look;
and from what lies on the desk, because neither a message nor a broker need be asked then, nor PostgreSQL.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress

import psutil

from jobs import telemetry
from jobs.engine.recover import Sentence
from jobs.processes.children import condemn, end, sentence_of
from jobs.processes.desk import Desk, Lying
from jobs.processes.reports import Ended, ended
from jobs.processes.watchdog import Progress
from jobs.store import Failure

LOOK_EVERY = 0.2  # seconds
MIB = 1024 * 1024


class Limits:
    """Runs in a thread of the parent until `stop` is set. children: the pids of the pool, now."""

    def __init__(self, desk: Desk, stop: threading.Event, children: Callable[[], Collection[int]]) -> None:
        self._desk = desk
        self._stop = stop
        self._children = children
        self._condemned: set[tuple[int, int, int]] = set()  # process, job, attempt
        self._dead: set[tuple[int, int, int]] = set()

    def run(self, progress: Progress) -> None:
        """Look until stopped."""
        while not self._stop.wait(LOOK_EVERY):
            progress.note()
            self.look()

    def look(self) -> None:
        """At everything that is being run now."""
        lying = self._desk.lying()
        there = {(one.pid, one.job_id, one.attempt) for one in lying}
        self._condemned &= there
        self._dead &= there
        # A dead process cannot clear its seat; and its number may belong to a stranger one day.
        pool = set(self._children())
        for one in lying:
            if one.pid in pool and (one.pid, one.job_id, one.attempt) not in self._dead:
                self._judge(one)

    def _judge(self, one: Lying) -> None:
        """What has been condemned is only waited for."""
        if (death := death_of(one.pid)) is not None:
            self._dead.add((one.pid, one.job_id, one.attempt))
            end(one.pid)  # what it has started
            ended.put(Ended(one.pid, one.job_id, one.attempt, death, sentence_of(one.pid)))
        elif (one.pid, one.job_id, one.attempt) in self._condemned:
            pass
        elif one.deadline < time.monotonic():
            self._end(one, None)
        elif one.memory and (used := memory_of(one.pid)) > one.memory:
            error = f"used {used} MiB of memory; {one.memory} MiB are allowed"
            self._end(one, Failure("MemoryExceeded", error))

    def _end(self, one: Lying, failure: Failure | None) -> None:
        if one not in self._desk.lying():  # it has ended while it was looked at
            return
        self._condemned.add((one.pid, one.job_id, one.attempt))
        of = {"job": one.job_id, "attempt": one.attempt, "pid": one.pid}
        if failure is None:
            telemetry.noticed("time limit enforced", **of)
        else:
            telemetry.noticed("memory limit enforced", **of)
        condemn(one.pid, Sentence(one.job_id, one.attempt, failure))


def death_of(pid: int) -> str | None:
    """How a child of ours died, if it has; who is to bury it still can."""
    try:
        found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # it is buried
        return None
    if found is None:
        return None
    if found.si_code == os.CLD_EXITED:
        return f"its process ended with status {found.si_status}"
    return f"its process was ended by {signal.Signals(found.si_status).name}"


def memory_of(pid: int) -> int:
    """MiB that a process and everything it has started take; what is gone takes none."""
    used = 0
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            with suppress(psutil.Error):
                used += one.memory_info().rss
    return used // MIB
