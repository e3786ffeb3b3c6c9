"""Execute one attempt in the test's process, as a worker does."""

from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import pq

from jobs import store
from jobs.contrib.testing.failures import planned
from jobs.contrib.testing.hand_backs import SeatOfTest
from jobs.contrib.testing.patched import refuse_patched
from jobs.engine.attempt import body
from jobs.engine.attempt.body import UnknownJobType
from jobs.engine.attempt.outcome import Outcome
from jobs.engine.attempt.settle import settle
from jobs.engine.attempt.unknown import as_refusal
from jobs.engine.process import user_code
from jobs.lifecycle import Status
from jobs.reading import queries
from jobs.store import Claimed

UNDONE = "an error of PostgreSQL after its ending() has undone that, too, since a TestCase is one transaction"


@dataclass(frozen=True)
class Attempt:
    """An attempt that was made.

    number: the number of the attempt.
    status: the status of the job after it.
    value: its result.
    error: the error that ended it.
    """

    job_id: int
    number: int
    status: str
    value: Any
    error: BaseException | None

    @property
    def failed(self) -> bool:
        """Return whether the job has failed: it ended as error or dead."""
        return self.status in (Status.ERROR, Status.DEAD)


def execute(message: Claimed, host: SeatOfTest) -> Attempt | None:
    """Start, run and settle an attempt; None if it was cancelled or paused, or expired, before it began."""
    job = store.start(message.id, message.attempt, host.seat)
    if job is None:
        _ = store.put_off(message.id, message.attempt) or store.turn_away(message.id, message.attempt)
        return None
    host.begin(job)
    outcome = Outcome(error=planned(job))
    if outcome.error is None:
        refuse_patched(job)
        savepoints = _Savepoints()
        outcome = body.run(job, host)
        if isinstance(outcome.error, UnknownJobType):  # in a test no other worker can know it
            outcome.error = as_refusal(outcome.error)
        savepoints.commit(outcome)
    if not outcome.has_ended:
        outcome.keep_result(job)
        settle(job, outcome, user_code.Here(job, host))
    status = queries.status(job.tenant_id, job.id) or Status.DEAD
    return Attempt(job.id, job.attempt, status, outcome.value, outcome.error)


class _Savepoints:
    """Inside the transaction of a TestCase, let a body's statements end as if they were committed.

    An error of PostgreSQL ends a transaction. A worker's body has its own transactions, so here it gets a savepoint:
    such an error undoes its writes, and the test goes on. Its functions on commit are called.
    """

    def __init__(self) -> None:
        inside = [connection for connection in connections.all(initialized_only=True) if connection.in_atomic_block]
        self._points: list[tuple[Any, str | None, int]] = [
            (connection, connection.savepoint(), len(connection.run_on_commit)) for connection in inside
        ]

    def commit(self, outcome: Outcome) -> None:
        """End the body. An error in a function on commit is the body's, unless the function was declared robust."""
        for connection, savepoint, before in self._points:
            called = connection.run_on_commit[before:]
            del connection.run_on_commit[before:]
            if _is_broken(connection):
                connection.needs_rollback = False
                connection.savepoint_rollback(savepoint)
                if outcome.has_ended:
                    outcome.ended_at, outcome.error = None, DatabaseError(UNDONE)
                continue
            connection.savepoint_commit(savepoint)
            for _, function, robust in called:
                try:
                    function()
                except Exception as error:
                    outcome.error = outcome.error or (None if robust else error)


def _is_broken(connection: BaseDatabaseWrapper) -> bool:
    if connection.vendor != "postgresql":
        return connection.needs_rollback
    raw: Any = connection.connection
    return bool(connection.needs_rollback or raw.pgconn.transaction_status == pq.TransactionStatus.INERROR)
