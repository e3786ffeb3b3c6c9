"""The clock: promotes what is due at its moment, dispatches as a net, and sees to the periodic duties.

Every worker carries one; `manage.py clock` runs it alone. An advisory lock makes one of them the leader. It is a
session lock, so it needs a direct connection or a pooler in session mode.

All tenants depend on it, so it waits for nobody: its statements pass over rows that are locked, and take them at the
next tick; its session gives up in time; what reads much is the upkeep's, in another thread; it talks to no broker.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import psycopg
from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection

from jobs import store, telemetry
from jobs.engine import check, expire, notify, pause, recount, recover
from jobs.engine.dispatch import dispatch
from jobs.engine.promote import promote
from jobs.parent.watchdog import Progress
from jobs.tasks import WORKER_ID

SHORTEST_SLEEP = 0.1  # seconds after a tick for which something was due, but could not be promoted: it is locked
LONGEST_SLEEP = 1.0  # seconds; also how soon another clock takes over, and how soon a stop is heard
SILENT = 5.0  # seconds without a word, after which a leader is taken for one that was stopped
LOCK_TIMEOUT = 1.0  # seconds that a statement of the clock may wait for a lock
STATEMENT_TIMEOUT, UPKEEP_TIMEOUT = 10.0, 120.0  # seconds that one may take

_IN_TIME = (
    psycopg.errors.LockNotAvailable,
    psycopg.errors.QueryCanceled,
    psycopg.errors.DeadlockDetected,
)


def given_up_in_time(step: Callable[[], object]) -> object:
    """Do this; if its session has given up waiting, it has another turn, and what comes after it goes on.

    Raises the database's error if the session is lost.
    """
    try:
        return step()
    except OperationalError as error:
        session = connection.connection
        if session is None or session.closed or not isinstance(error.__cause__, _IN_TIME):
            raise
        telemetry.noticed("clock was held up", error=type(error.__cause__).__name__)
        return None


@dataclass
class Duty:
    """Something to do every so many seconds."""

    every: float
    run: Callable[[], object]
    next_at: float = 0.0

    def run_if_due(self) -> None:
        if time.monotonic() >= self.next_at:
            given_up_in_time(self.run)
            self.next_at = time.monotonic() + self.every


def duties() -> list[Duty]:
    """What the leader does besides promoting and dispatching."""
    return [
        Duty(1.0, recover.take_back_orphans),
        Duty(1.0, recover.hand_over_again),
        Duty(5.0, pause.release_strays),
        Duty(settings.JOBS_DEATH_NOTICE_INTERVAL, notify.notify_in_background),
    ]


def slow_duties() -> list[Duty]:
    """What may take long, where there is much to look at."""
    return [
        Duty(10.0, recount.recount_waiting),
        Duty(60.0, expire.expire_dead),
        Duty(60.0, check.Inspection().run),
    ]


class Clock:
    """Runs until `stop` is set. Survives the loss of the database: whoever is back first leads."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._session: object = None  # the connection that holds the leader's lock
        self._time = Time()
        self._duties = duties()
        self.leads = threading.Event()

    def run(self, progress: Progress | None = None) -> None:
        """Tick until stopped."""
        store.keep_sessions(WORKER_ID, "clock", lock_timeout=LOCK_TIMEOUT, statement_timeout=STATEMENT_TIMEOUT)
        progress = progress or Progress()
        while not self._stop.is_set():
            progress.note()
            try:
                if self._leads():
                    self._tick()
                else:
                    self._stop.wait(LONGEST_SLEEP)
            except (DatabaseError, InterfaceError) as error:
                telemetry.noticed("clock without database", error=type(error).__name__)
                connection.close()
                self.leads.clear()
                self._stop.wait(LONGEST_SLEEP)
        self.leads.clear()
        connection.close()

    def _leads(self) -> bool:
        """Whether this clock holds the lock, in the session it is using now."""
        connection.ensure_connection()
        if self._session is connection.connection:
            return True
        self.leads.clear()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(hashtext('jobs.clock'), 0)")
            if not cursor.fetchone()[0]:
                if store.depose(SILENT):
                    telemetry.noticed("silent clock deposed")
                return False
            cursor.execute("LISTEN jobs_due")
        self._session = connection.connection
        self._time = Time()
        self.leads.set()
        telemetry.noticed("this clock leads")
        return True

    def _tick(self) -> None:
        self._time.look()
        moment = store.next_moment()  # before the work: one that passes meanwhile is not slept over
        promoted = given_up_in_time(promote)
        given_up_in_time(_net)
        given_up_in_time(self._declare_gone)
        for duty in self._duties:
            duty.run_if_due()
        if moment is not None and moment <= 0 and not promoted:
            moment = SHORTEST_SLEEP
        self._sleep(LONGEST_SLEEP if moment is None else min(moment, LONGEST_SLEEP))

    def _declare_gone(self) -> None:
        recover.declare_gone(self._time.watched, self._time.latest)

    def _sleep(self, seconds: float) -> None:
        """Until then, or until somebody submits a job for an earlier moment."""
        if seconds > 0:
            with connection.wrap_database_errors:  # psycopg's own would end the clock
                for _ in connection.connection.notifies(timeout=seconds, stop_after=1):
                    pass


def _net() -> None:
    """What nobody else has dispatched, and what a rate limit has a token for again."""
    dispatch(in_line=False)


class Time:
    """Whether time passes as it should. If not, every last beat is old, and nobody is to be blamed for it:

    after an election, which follows an outage; when PostgreSQL's clock was set; when this process, or the database,
    stood still. Then each worker gets the time to beat again before any is declared gone.
    """

    def __init__(self) -> None:
        self._since = self._looked_at = time.monotonic()
        self._ahead: tuple[float, float] | None = None  # of ours PostgreSQL's clock is, at least and at most

    @property
    def watched(self) -> float:
        """Seconds for which it has."""
        return time.monotonic() - self._since

    @property
    def latest(self) -> float:
        """What PostgreSQL's clock shows now, at most, if it was not set since the last look."""
        ahead = float("inf") if self._ahead is None else self._ahead[1]
        return time.monotonic() + ahead + float(settings.JOBS_BEAT_INTERVAL)

    def look(self) -> None:
        """Compare the two clocks, at each tick."""
        before = time.monotonic()
        theirs = store.database_time()
        after = time.monotonic()
        ahead = (theirs - after, theirs - before)
        beat = settings.JOBS_BEAT_INTERVAL
        moved = 0.0 if self._ahead is None else max(ahead[0] - self._ahead[1], self._ahead[0] - ahead[1])
        if moved > beat:
            telemetry.noticed("the database's clock was set", seconds=f"{moved:.1f}")
        if moved > beat or after - self._looked_at > LONGEST_SLEEP + beat:
            self._since = after
        self._ahead, self._looked_at = ahead, after


class Upkeep:
    """The leader's slow duties, in a thread of their own until `stop` is set."""

    def __init__(self, stop: threading.Event, clock: Clock) -> None:
        self._stop = stop
        self._clock = clock
        self._duties = slow_duties()

    def run(self, progress: Progress | None = None) -> None:
        """See to them while the clock leads."""
        store.keep_sessions(WORKER_ID, "upkeep", lock_timeout=LOCK_TIMEOUT, statement_timeout=UPKEEP_TIMEOUT)
        progress = progress or Progress()
        while not self._stop.wait(LONGEST_SLEEP):
            progress.note()
            try:
                if self._clock.leads.is_set():
                    for duty in self._duties:
                        duty.run_if_due()
                else:
                    connection.close()
            except (DatabaseError, InterfaceError) as error:
                telemetry.noticed("upkeep without database", error=type(error).__name__)
                connection.close()
