"""Reconcile: each second, compare the rows that say `running` in this worker with its running table.

* A body that was asked to stop and still runs after JOBS_CANCEL_GRACE seconds is ended.
* An operator who has asked for the stack of a body gets it.
* A body that makes checkpoints is asked for its slot, if that is wanted back.
* A row that its process does not hold is taken back: PostgreSQL has lost the end that this process had recorded.
  That happens by a failover to a standby that lacked it, or by a restore, and nothing else would ever end that row.

The row names its worker and its process, so this needs no broker, and works in a draining worker.
"""

import threading
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jobs import store, telemetry
from jobs.conf import settings
from jobs.engine.upkeep import recover
from jobs.engine.upkeep.recover import Kill
from jobs.engine.upkeep.wanted_back import wanted_back
from jobs.store import Failure, RunningHere, Seat
from jobs.worker.children import kills, stacks
from jobs.worker.children.entry import Entry
from jobs.worker.children.kills import Pool
from jobs.worker.children.running_table import RunningTable
from jobs.worker.threads.watchdog import Progress
from jobs.worker.threads.without_database import Database

LOOK_INTERVAL = 1.0  # seconds
CONFIRMING_LOOKS = 2  # further looks that must find the same before a row is taken back


@dataclass(frozen=True)
class _Suspicion:
    """The suspicion that a row's process does not hold its attempt.

    version: that of the entry of the process when the row was first seen; None: it had none.
    looks: how many further looks have confirmed it.
    """

    version: int | None
    looks: int = 0


class Reconciler:
    """Runs in a thread of the parent until `stop` is set."""

    def __init__(self, worker: uuid.UUID, table: RunningTable, stop: threading.Event, pool: Pool) -> None:
        self._worker = worker
        self._table = table
        self._stop = stop
        self._pool = pool
        self._suspected: dict[RunningHere, _Suspicion] = {}
        self._asked = False  # at the last look, for a slot

    def run(self, progress: Progress) -> None:
        """Look until the worker stops."""
        store.keep_sessions(self._worker, "reconcile", lock_timeout=1, statement_timeout=5)
        database = Database("reconcile")
        while not self._stop.wait(LOOK_INTERVAL):
            progress.note()
            with database:
                self.look()

    def look(self) -> None:
        """Compare once. The rows are read first: so a process may be ahead of its row, but never behind it."""
        rows = store.running_here(self._worker, settings.JOBS_CANCEL_GRACE)
        entries = self._table.entries() if rows else []
        held = {(entry.pid, entry.job_id, entry.attempt): entry for entry in entries}
        alive = set(self._pool.pids())
        suspected = {}
        for row, overdue, asked in rows:
            entry = held.get((row.pid, row.id, row.attempt)) if row.pid in alive else None
            if entry is None:
                other = next((entry for entry in entries if entry.pid == row.pid), None) if row.pid in alive else None
                suspected[row] = self._suspect(row, other)
            elif overdue and entry.runs and not entry.is_torn:
                self._stop_body(row)
            elif asked:
                self._tell_stack(entry)
        self._suspected = suspected
        self._ask_back([row for row, *_ in rows])
        for row, suspicion in suspected.items():
            if suspicion.looks >= CONFIRMING_LOOKS:
                self._take_back(row, suspicion, lives=row.pid in alive)

    def _ask_back(self, running: Sequence[RunningHere]) -> None:
        wanted = wanted_back(self._worker, running)
        if wanted or self._asked:
            self._table.ask_back(wanted)
        self._asked = bool(wanted)

    def _suspect(self, row: RunningHere, entry: Entry | None) -> _Suspicion:
        suspicion = self._suspected.get(row)
        if suspicion is None:
            return _Suspicion(None if entry is None else entry.version)
        if entry is not None and _may_hold(entry, suspicion):
            return suspicion
        return replace(suspicion, looks=suspicion.looks + 1)

    def _take_back(self, row: RunningHere, suspicion: _Suspicion, *, lives: bool) -> None:
        if lives:  # at the next look again, if the row is locked
            recover.take_back_unheld(Seat(self._worker, row.pid), row.id, row.attempt)
        elif suspicion.looks == CONFIRMING_LOOKS:  # once: the reports repeat it
            kills.report(row.pid, row.id, row.attempt, "its process is gone")

    def _tell_stack(self, entry: Entry) -> None:
        """Answer an operator who waits for the stack of a body."""
        text = stacks.ask(entry.pid) if entry.runs and not entry.is_torn else ""
        ended = all(now.version != entry.version or now.pid != entry.pid for now in self._table.running())
        if ended:  # the answer may be that of the next body
            store.answer_stack(entry.job_id, entry.attempt, "", "Its body does not run: it begins, or has just ended.")
        else:
            store.answer_stack(entry.job_id, entry.attempt, text, "" if text else stacks.NO_ANSWER)

    @staticmethod
    def _stop_body(row: RunningHere) -> None:
        telemetry.noticed("cancel enforced", job=row.id, attempt=row.attempt, tenant=row.tenant_id, pid=row.pid)
        error = f"did not stop within {settings.JOBS_CANCEL_GRACE:g} s and was killed"
        kills.kill(Kill(row.pid, row.id, row.attempt, Failure("Cancelled", error)))


def _may_hold(entry: Entry, suspicion: _Suspicion) -> bool:
    """Return whether this process may have got the attempt, while its entry does not say so yet.

    Two statements start a job before the entry says so: one that settles an attempt and starts the next job of the
    lane; and a dispatch that starts the job which the process keeps. Until the answer, the entry holds the job before.
    A statement that began after the row was first seen has not started it. A process that has settled the attempt has
    let it go.
    """
    under_way = entry.job_id != 0 and not entry.runs and entry.version == suspicion.version
    return entry.is_torn or under_way
