"""The end of an attempt in its body's own transaction: `with current_job().ending():`.

The statement that settles a success runs in the body's session, as the last one before the commit. So the writes of the
block and the end of the job commit together, or neither does.

The answer to the commit may be lost. Then this asks the row, by a statement that waits for the lock which the commit
gives back. If that has no answer either, the body fails, and the fence of the statement that settles its failure
decides: it finds nothing if the job has ended.
"""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from django.db import DEFAULT_DB_ALIAS, Error, connections, transaction

from jobs import store, telemetry
from jobs.authoring.current import EndOfJob
from jobs.authoring.exceptions import StaleAttempt
from jobs.calls.arguments import stats_as_json
from jobs.engine.attempt.outcome import Outcome
from jobs.engine.process.host import AttemptHost
from jobs.engine.process.patience import patiently
from jobs.store import Started, results

IN_A_LOOP = (
    "ending() in an event loop, which has no transactions. Put the block into a function, and await it: "
    "`await in_thread(function)`."
)
AGAIN = "ending() after an end: this job has ended already. Put all that belongs to its end into one block."
INSIDE = (
    "ending() inside a transaction, whose commit comes later than the end of the job. It is a transaction itself: "
    "take it out of `atomic`, also out of that of another ending() or of JOBS_AROUND."
)


@dataclass
class OwnEnd:
    """Opens the block in which an attempt may end. Any thread of the body may use it."""

    job: Started
    outcome: Outcome
    host: AttemptHost

    @contextmanager
    def __call__(self, end: EndOfJob) -> Iterator[EndOfJob]:
        """Open the block. Raises RuntimeError if it may not be opened here, and StaleAttempt at its end."""
        self._check()
        ended = replace(self.outcome)  # of its own, since the block may be rolled back, and the body go on
        with ExitStack() as block, ExitStack() as deferral:
            block.enter_context(transaction.atomic(durable=True))
            # The first of the functions after the commit: those of the body may raise.
            transaction.on_commit(lambda: self._note(ended, deferral))
            yield end
            self._write_down(end, ended)
            deferral.enter_context(self.host.limit.deferred())
            self._succeed(ended)
            try:
                block.close()
            except Error:
                if self.outcome.has_ended or not self._is_committed():
                    raise
            self._note(ended, deferral)

    def _check(self) -> None:
        """Raise RuntimeError, with the remedy, if this is no place for the block."""
        if asyncio._get_running_loop() is not None:
            raise RuntimeError(IN_A_LOOP)
        if self.outcome.has_ended:
            raise RuntimeError(AGAIN)
        connection = connections[DEFAULT_DB_ALIAS]
        blocks: list[Any] = connection.atomic_blocks
        # As Django for its own durable blocks: a TestCase has a transaction around everything.
        if not blocks[-1]._from_testcase if blocks else not connection.get_autocommit():
            raise RuntimeError(INSIDE)

    def _write_down(self, end: EndOfJob, ended: Outcome) -> None:
        """Take what the body says of its end, and keep the result: user code, and perhaps a cache that hangs."""
        ended.value, ended.text = end.result, results.as_text(end.result)
        ended.stats = stats_as_json({**self.outcome.stats, **end.stats})
        ended.peak_memory = self.host.process.peak_memory()
        ended.keep_result(self.job)

    def _succeed(self, ended: Outcome) -> None:
        """Settle the success in the session of the body. Raises StaleAttempt if there is nothing to settle."""
        job, facts = self.job, (ended.stats, ended.result_ttl, ended.result_bytes)
        if not store.succeed(job.id, job.attempt, *facts, **ended.end_of(job)):
            raise StaleAttempt(f"attempt {job.attempt} of job {job.id} does not run any more: its block is rolled back")

    def _note(self, ended: Outcome, deferral: ExitStack) -> None:
        """Note that the job has ended. The time limit counts again."""
        self.outcome.end_as(ended)
        deferral.close()

    def _is_committed(self) -> bool:
        """Ask whether the job has ended: its commit has an error, or no answer. Without an answer, return False."""
        try:
            with self.host.process.own_session():
                is_committed = patiently(lambda: store.has_succeeded(self.job))
                if store.is_of_the_engine(store.session()):
                    store.session().close()  # it may be that of a thread, which ends without it
        except Error:
            return False
        if is_committed:
            telemetry.noticed("commit without an answer: its job has ended", job=self.job.id, attempt=self.job.attempt)
        return is_committed
