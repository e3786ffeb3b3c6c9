"""Reconcile: each second, compare the rows that say `running` in this worker with what its processes hold (desk.py).

* A body that was asked to stop and still runs after JOBS_CANCEL_GRACE seconds is ended.
* A row whose process does not hold it is taken back: PostgreSQL has lost the end that this process had recorded, by a
  failover to a standby that lacked it or by a restore, and nobody else would ever end that row.

The row names worker and process, so this needs no broker, and works in a draining worker.
"""

import threading
import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from django.db import DatabaseError, InterfaceError, connection

from jobs import store, telemetry
from jobs.conf import settings
from jobs.engine import recover
from jobs.engine.recover import Sentence
from jobs.store import Failure, Process, RunningHere
from jobs.worker.children.kills import condemn, sentence_of
from jobs.worker.children.reports import Ended, ended
from jobs.worker.children.running_table import Desk, Note
from jobs.worker.threads.watchdog import Progress

LOOK_EVERY = 1.0  # seconds
LOOKS = 2  # further ones that must find the same before a row is taken back


@dataclass(frozen=True)
class _Suspicion:
    """Against a row that its process does not hold. version: of the process' note when it was first seen so."""

    version: int | None
    looks: int = 0


class Reconciler:
    """Runs in a thread of the parent until `stop` is set. children: the pids of the pool, now."""

    def __init__(
        self, worker: uuid.UUID, desk: Desk, stop: threading.Event, children: Callable[[], Collection[int]]
    ) -> None:
        self._worker = worker
        self._desk = desk
        self._stop = stop
        self._children = children
        self._suspected: dict[RunningHere, _Suspicion] = {}

    def run(self, progress: Progress) -> None:
        """Look until the worker stops."""
        store.keep_sessions(self._worker, "reconcile", lock_timeout=1, statement_timeout=5)
        while not self._stop.wait(LOOK_EVERY):
            progress.note()
            try:
                self.look()
            except (DatabaseError, InterfaceError) as error:
                telemetry.noticed("reconcile without database", error=type(error).__name__)
                connection.close()

    def look(self) -> None:
        """Compare once. The rows are read first, so that a process may have gone on since, but none be behind."""
        rows = store.running_here(self._worker, settings.JOBS_CANCEL_GRACE)
        notes = {note.pid: note for note in self._desk.notes()} if rows else {}
        alive = set(self._children())
        suspected = {}
        for row, overdue in rows:
            note = notes.get(row.pid) if row.pid in alive else None
            if note is None or (note.job_id, note.attempt) != (row.id, row.attempt):
                suspected[row] = self._suspect(row, note)
            elif overdue and note.runs and not note.is_torn:
                self._stop_body(row)
        self._suspected = suspected
        for row, suspicion in suspected.items():
            if suspicion.looks >= LOOKS:
                self._take_back(row, suspicion, lives=row.pid in alive)

    def _suspect(self, row: RunningHere, note: Note | None) -> _Suspicion:
        suspicion = self._suspected.get(row)
        if suspicion is None:
            return _Suspicion(None if note is None else note.version)
        if note is not None and _may_hold(note, suspicion):
            return suspicion
        return replace(suspicion, looks=suspicion.looks + 1)

    def _take_back(self, row: RunningHere, suspicion: _Suspicion, *, lives: bool) -> None:
        process = Process(self._worker, row.pid)
        if lives:
            recover.take_back_unheld(process, row.id, row.attempt)  # at the next look again, if the row is locked
        elif suspicion.looks == LOOKS:  # once: the reports repeat it
            ended.put(Ended(row.pid, row.id, row.attempt, "its process is gone", sentence_of(row.pid)))

    @staticmethod
    def _stop_body(row: RunningHere) -> None:
        of = {"job": row.id, "attempt": row.attempt, "tenant": row.tenant_id}
        telemetry.noticed("cancel enforced", **of, pid=row.pid)
        error = f"did not stop within {settings.JOBS_CANCEL_GRACE:g} s and was killed"
        condemn(row.pid, Sentence(row.id, row.attempt, Failure("Cancelled", error)))


def _may_hold(note: Note, suspicion: _Suspicion) -> bool:
    """Whether the process may have got the attempt without having noted it yet.

    So it is while one statement is under way: one that settles an attempt may start the next of its lane, and a pass
    starts the job that the process keeps, which until then holds the one before. A statement that began after the row
    had been seen has not started it; and one that had settled it has let it go before.
    """
    under_way = note.job_id != 0 and not note.runs and note.version == suspicion.version
    return note.is_torn or under_way
