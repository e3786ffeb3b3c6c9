"""Limits: the parent watches its processes, and ends one that exceeds its time or its memory.

It also notices that a process died during a body. Celery reports that too, but Celery may wait for a broker that hangs.

The parent enforces the limits: while a body hangs or allocates in C, no thread of its own process runs. The parent
reads the running table, which needs no message, no broker and no PostgreSQL.
"""

import math
import os
import signal
import threading
import time
from contextlib import suppress

import psutil

from jobs import telemetry
from jobs.conf import settings
from jobs.engine.process.user_code import silent_text
from jobs.engine.upkeep.recover import Kill
from jobs.store import Failure
from jobs.worker.children import kills
from jobs.worker.children.entry import Entry
from jobs.worker.children.kills import Pool
from jobs.worker.children.running_table import RunningTable
from jobs.worker.threads.watchdog import Progress

LOOK_INTERVAL = 0.2  # seconds
LONG_WAIT = 30.0  # seconds for which a process may hold an attempt without running user code
MIB = 1024 * 1024


class Limits:
    """Runs in a thread of the parent until `stop` is set."""

    def __init__(self, table: RunningTable, stop: threading.Event, pool: Pool) -> None:
        self._table = table
        self._stop = stop
        self._pool = pool
        self._over_limit: set[Entry] = set()  # at the last look
        self._reported: set[Entry] = set()  # dead
        self._waits: dict[Entry, float] = {}  # since when they start or settle an attempt; infinite: logged

    def run(self, progress: Progress) -> None:
        """Enforce limits until stopped."""
        while not self._stop.wait(LOOK_INTERVAL):
            progress.note()
            self.look()

    def look(self) -> None:
        """Check every process once."""
        self._look_at_waits()
        running = self._table.running()
        self._over_limit.intersection_update(running)
        self._reported.intersection_update(running)
        # A dead process cannot clear its entry, and its pid may later belong to another program.
        pool = set(self._pool.pids())
        for entry in running:
            if entry.pid in pool and entry not in self._reported:
                self._check(entry)

    def _look_at_waits(self) -> None:
        """Log once that a process takes long to start or settle an attempt: no time limit ends it there."""
        now, held = time.monotonic(), [entry for entry in self._table.entries() if entry.job_id and not entry.runs]
        self._waits = {entry: self._waits.get(entry, now) for entry in held if not entry.is_torn}
        for entry, since in self._waits.items():
            if now - since > LONG_WAIT:
                facts = {"job": entry.job_id, "attempt": entry.attempt, "pid": entry.pid}
                telemetry.noticed("attempt waits for the database or the cache", **facts, seconds=round(now - since))
                self._waits[entry] = math.inf

    def _check(self, entry: Entry) -> None:
        """Report a death, or end a process over its limits. Wait for a process that was ended already."""
        if (death := death_of(entry.pid)) is not None:
            self._reported.add(entry)
            kills.end(entry.pid)  # for its subprocesses
            kills.report(entry.pid, entry.job_id, entry.attempt, death)
        elif kills.is_killed(entry.pid, entry.job_id, entry.attempt):
            pass
        elif entry.deadline < time.monotonic():
            self._end(entry, None)
        elif entry.silence and entry.heard + entry.silence + settings.JOBS_TIMEOUT_GRACE < time.monotonic():
            self._end(entry, silent_text(entry.silence))
        elif entry.memory and (used := memory_of(entry.pid)) > entry.memory:
            error = f"used {used} MiB of memory; {entry.memory} MiB are allowed"
            self._end(entry, Failure("MemoryExceeded", error))

    def _end(self, entry: Entry, reason: Failure | str | None) -> None:
        """Kill at the second look that finds the same entry over its limit: a kill cannot be taken back."""
        if entry not in self._over_limit:
            self._over_limit.add(entry)
            return
        if entry not in self._table.running():  # the code has ended meanwhile
            return
        facts = {"job": entry.job_id, "attempt": entry.attempt, "pid": entry.pid}
        if reason is None:
            telemetry.noticed("time limit enforced", **facts)
        elif isinstance(reason, str):
            telemetry.noticed("silence ended", **facts)
        else:
            telemetry.noticed("memory limit enforced", **facts)
        kills.kill(Kill(entry.pid, entry.job_id, entry.attempt, reason))


def death_of(pid: int) -> str | None:
    """Return how a child died, in words; None if it is alive. The child is not reaped here."""
    try:
        state = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # it was reaped already
        return None
    if state is None:
        return None
    return how(state.si_status if state.si_code == os.CLD_EXITED else -state.si_status)


def how(status: int) -> str:
    """Return how a process died, in words.

    status: its exit status, or the negative number of the signal that ended it
    """
    if status < 0:
        return f"its process was ended by {signal.Signals(-status).name}"
    return f"its process ended with status {status}"


def memory_of(pid: int) -> int:
    """Return the MiB of memory that a process and its subprocesses use; 0 if it is gone."""
    used = 0
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        for member in (process, *process.children(recursive=True)):
            with suppress(psutil.Error):
                used += member.memory_info().rss
    return used // MIB
