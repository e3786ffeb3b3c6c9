"""The duties of the leader, and their intervals."""

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psycopg
from django.db import DatabaseError, connection

from jobs import extensions, store, telemetry
from jobs.conf import settings
from jobs.engine.deaths import notify
from jobs.engine.door import budgets, repairs, unblock
from jobs.engine.upkeep import history, prune, recover
from jobs.engine.verbs import batch_actions, pause
from jobs.recording import close, inspection, may_run, record, sample, statements

REST_FACTOR = 50.0  # looks, samples, and the counts of hours, take at most a fiftieth of the time each
_IN_TIME = (psycopg.errors.LockNotAvailable, psycopg.errors.QueryCanceled, psycopg.errors.DeadlockDetected)


def try_step(step: Callable[[], object]) -> object:
    """Run a step. If it fails, log the error and return None; the step runs again at its next turn.

    The error of a step must not end the worker, which runs jobs: the next leader's worker would end as well. Raises the
    database's error if the session was lost, or cannot be used any more.
    """
    try:
        return step()
    except Exception as error:
        why, session = error.__cause__ or error, connection.connection
        lost = session is None or session.closed
        if isinstance(why, _IN_TIME) and not lost:
            telemetry.noticed("clock was held up", error=type(why).__name__)
        elif store.may_pass(error) or (isinstance(error, DatabaseError) and lost):
            raise
        else:
            lines = [f"{Path(at.filename).name}:{at.lineno}" for at in traceback.extract_tb(error.__traceback__)[1:]]
            duty = getattr(step, "__qualname__", None)
            telemetry.noticed("duty of the clock failed", duty=duty, error=type(why).__name__, at=",".join(lines))
        return None


@dataclass
class Duty:
    """A step that runs at regular times.

    every: seconds from the end of a run until the next one
    run: the step
    next_at: when it runs next, by time.monotonic()
    rest: pause at least that many times as long as the last run took
    """

    every: float
    run: Callable[[], object]
    next_at: float = 0.0
    rest: float = 0.0

    def run_if_due(self) -> None:
        if (begins := time.monotonic()) >= self.next_at:
            try_step(self.run)
            ends = time.monotonic()
            self.next_at = ends + max(self.every, self.rest * (ends - begins))


def duties() -> list[Duty]:
    """Return the leader's duties besides promoting and dispatching."""
    return [
        Duty(1.0, recover.take_back_orphans),
        Duty(1.0, recover.hand_over_again),
        Duty(1.0, store.tidy_turns),
        Duty(5.0, store.note_look),
        Duty(5.0, budgets.settle_budgets),
        Duty(5.0, pause.release_strays),
        Duty(5.0, unblock.unblock_if_news),
        Duty(60.0, store.open_lanes),
        Duty(settings.JOBS_DEATH_NOTICE_INTERVAL, notify.notify_in_background),
    ]


def slow_duties() -> list[Duty]:
    """Return the duties that may take long because they read much."""
    return [
        Duty(1.0, batch_actions.go_on_cancelling),
        Duty(10.0, repairs.recount_waiting),
        Duty(3600.0, repairs.recount_all),
        Duty(10.0, history.Archive().run),
        Duty(60.0, prune.expire_dead),
        Duty(60.0, prune.expire_memories),
        Duty(600.0, history.drop_old),
        Duty(60.0, prune.forget_orphans),
        Duty(3600.0, prune.prune),
    ]


def recording_duties() -> list[Duty]:
    """Return the duties that count what happened, and check whether the data is right."""
    return [
        Duty(3600.0, record.keep_partitions),
        Duty(5.0, may_run.MayRun().look, rest=REST_FACTOR),
        Duty(5.0, statements.note_pools, rest=REST_FACTOR),
        Duty(20.0, sample.record_sample, rest=REST_FACTOR),
        Duty(20.0, record.record_minutes),
        Duty(60.0, record.record_hours, rest=REST_FACTOR),
        Duty(60.0, close.close_days, rest=REST_FACTOR),
        Duty(60.0, inspection.Inspection().run),
        Duty(3600.0, close.forget_days),
        *extensions.duties(),
    ]
