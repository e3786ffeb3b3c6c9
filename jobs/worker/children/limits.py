"""Limits: the parent watches its processes (see desk.py), and ends one that exceeds its time or its memory.

It also notices that a process died during a body. Celery reports this too, but may be waiting for a broker that hangs.

The parent does it because a body that hangs or allocates in C lets no thread of its own process run. It reads the desk
because that needs no message, no broker and no PostgreSQL.
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
from jobs.store import Failure
from jobs.worker.children.kills import condemn, end, sentence_of
from jobs.worker.children.reports import Ended, ended
from jobs.worker.children.running_table import Desk, Note
from jobs.worker.threads.watchdog import Progress

LOOK_EVERY = 0.2  # seconds
MIB = 1024 * 1024


class Limits:
    """Runs in a thread of the parent until `stop` is set. children: the pids of the pool, now."""

    def __init__(self, desk: Desk, stop: threading.Event, children: Callable[[], Collection[int]]) -> None:
        self._desk = desk
        self._stop = stop
        self._children = children
        self._over: set[Note] = set()  # their limits, at the last look
        self._condemned: set[Note] = set()
        self._dead: set[Note] = set()

    def run(self, progress: Progress) -> None:
        """Enforce limits until stopped."""
        while not self._stop.wait(LOOK_EVERY):
            progress.note()
            self.look()

    def look(self) -> None:
        """Check all that runs."""
        running = self._desk.running()
        self._over.intersection_update(running)
        self._condemned.intersection_update(running)
        self._dead.intersection_update(running)
        # A dead process cannot clear its seat, and its pid may later belong to a stranger.
        pool = set(self._children())
        for note in running:
            if note.pid in pool and note not in self._dead:
                self._judge(note)

    def _judge(self, note: Note) -> None:
        """Report a death, or end a process over its limits. Wait for a process that was ended already."""
        if (death := death_of(note.pid)) is not None:
            self._dead.add(note)
            end(note.pid)  # for its subprocesses
            ended.put(Ended(note.pid, note.job_id, note.attempt, death, sentence_of(note.pid)))
        elif note in self._condemned:
            pass
        elif note.deadline < time.monotonic():
            self._end(note, None)
        elif note.memory and (used := memory_of(note.pid)) > note.memory:
            error = f"used {used} MiB of memory; {note.memory} MiB are allowed"
            self._end(note, Failure("MemoryExceeded", error))

    def _end(self, note: Note, failure: Failure | None) -> None:
        """Condemn at the second look that finds the same note over its limit: a kill cannot be taken back."""
        if note not in self._over:
            self._over.add(note)
            return
        if note not in self._desk.running():  # the code has ended meanwhile
            return
        self._condemned.add(note)
        of = {"job": note.job_id, "attempt": note.attempt, "pid": note.pid}
        if failure is None:
            telemetry.noticed("time limit enforced", **of)
        else:
            telemetry.noticed("memory limit enforced", **of)
        condemn(note.pid, Sentence(note.job_id, note.attempt, failure))


def death_of(pid: int) -> str | None:
    """How a child died; None if it is alive. The child is not reaped here."""
    try:
        found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # it was reaped already
        return None
    if found is None:
        return None
    if found.si_code == os.CLD_EXITED:
        return f"its process ended with status {found.si_status}"
    return f"its process was ended by {signal.Signals(found.si_status).name}"


def memory_of(pid: int) -> int:
    """MiB of memory that a process and its subprocesses use; 0 if it is gone."""
    used = 0
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            with suppress(psutil.Error):
                used += one.memory_info().rss
    return used // MIB
