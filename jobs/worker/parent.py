"""The parent process of a worker: a thread for each duty."""

import os
import signal
import threading
from collections.abc import Sequence
from typing import Any

from jobs import telemetry
from jobs.conf import settings
from jobs.engine.door.dispatcher import Dispatcher
from jobs.engine.process import runtime
from jobs.engine.process.runtime import Runtime
from jobs.models import Pool
from jobs.store import LIVE_BEATS, Claimed
from jobs.worker import light
from jobs.worker.children import kills
from jobs.worker.children.kills import Pool as Processes
from jobs.worker.children.limits import Limits
from jobs.worker.children.reconcile import Reconciler
from jobs.worker.children.reports import Reports
from jobs.worker.children.running_table import running_table
from jobs.worker.clock import Clock, Schedules, Webhooks, recorder, upkeep
from jobs.worker.consumer import takes_messages
from jobs.worker.light.parent import threads as light_threads
from jobs.worker.message import WORKER_ID
from jobs.worker.threads.announcer import Announcer
from jobs.worker.threads.heartbeat import Heartbeat
from jobs.worker.threads.reach import Reach
from jobs.worker.threads.sender import Sender
from jobs.worker.threads.wakeup import wakeup
from jobs.worker.threads.watchdog import Run, Watchdog

JOIN_SECONDS = 5.0
EXIT_START_ANEW = 75  # EX_TEMPFAIL: the supervisor starts a new worker, which registers anew
# Seconds for which a thread may stand still, at least. More where it runs a retry policy, or long statements.
MAX_STANDSTILL, MAX_LONG_STANDSTILL = 15.0, 60.0


def row_of_light(pool: str) -> Pool | None:
    """Return the row of a light pool; None if the pool is ordinary."""
    return Pool.objects.filter(name=pool, kind=Pool.Kind.LIGHT).first()


class Parent:
    """The threads of a worker's parent process."""

    def __init__(self, consumer: Any) -> None:
        """Make the threads. The consumer is Celery's, and ready."""
        self._name, self._pool = consumer.hostname, Processes(consumer.pool)
        self._stop = threading.Event()
        self._watchdog = Watchdog(self._stop, self._abort)
        self._queue = queue = next(iter(consumer.app.amqp.queues.consume_from))  # named as the pool
        self._light = light.of_this_worker()
        self._grow = lambda: self._pool.grow(consumer.hub)
        self._reach = Reach(
            self._stop, lambda: running_table.drains or takes_messages(consumer, queue), self._broker_changed
        )
        self._heartbeat = Heartbeat(
            WORKER_ID,
            self._name,
            queue,
            self._stop,
            seats=self._seats(),
            kind=Pool.Kind.ORDINARY if self._light is None else Pool.Kind.LIGHT,
            threads=self._light is not None and self._light.threads,
            capacity=self._capacity,
            database_wait=lambda: None if self._light is None else self._light.database_wait(),
            cut_off=lambda: self._reach.away,
            registered=self._registered,
            drain=self._stop_in_good_order,
            gone=self._end_at_once,
        )
        self._clock = Clock(self._stop, away=lambda: self._reach.away)
        self._sender, self._announcer, self._dispatcher = Sender(), Announcer(), Dispatcher(wakeup=wakeup)

    def start(self) -> None:
        """Start the threads. The last one registers the worker, when all others that carry jobs on are running."""
        runtime.start(Runtime(self._hand_over, wakeup.request, self._announcer.announce))
        stop, clock = self._stop, self._clock
        standstill = max(MAX_STANDSTILL, LIVE_BEATS * settings.JOBS_BEAT_INTERVAL)
        threads: list[tuple[str, Run, float | None]] = [  # None: no limit of its standstill
            ("reach", self._reach.run, None),
            ("sender", self._sender.run, None),
            ("announcer", self._announcer.run, None),
            ("dispatcher", self._dispatcher.serve, None),
            *[(name, run, standstill) for name, run in self._of_seats()],
            ("reports", Reports(WORKER_ID, stop).run, max(standstill, MAX_LONG_STANDSTILL)),
            ("clock", clock.run, max(standstill, MAX_LONG_STANDSTILL)),
            ("upkeep", upkeep(stop, clock).run, None),
            ("schedules", Schedules(stop, clock).run, None),
            ("webhooks", Webhooks(stop, clock).run, None),
            ("recorder", recorder(stop, clock).run, None),
            ("beat", self._heartbeat.run, standstill),
        ]
        for name, run, seconds in threads:
            self._watchdog.start(name, run, seconds)
        threading.Thread(target=self._watchdog.run, name="watchdog", daemon=True).start()

    def _of_seats(self) -> list[tuple[str, Run]]:
        """Return the threads that watch over what the seats hold."""
        if self._light is not None:
            return light_threads(self._light, self._queue, self._stop, lambda: running_table.drains, self._grow)
        limits = Limits(running_table, self._stop, self._pool)
        return [("limits", limits.run), ("reconcile", Reconciler(WORKER_ID, running_table, self._stop, self._pool).run)]

    def drain(self) -> None:
        """Beat at once, so that PostgreSQL knows that this worker takes no more jobs."""
        self._heartbeat.beat_now()
        if self._light is not None:
            self._light.wake()

    def stop(self) -> None:
        """End the threads, after the pool has stopped."""
        self._stop.set()
        self._heartbeat.beat_now()
        for thread in (self._dispatcher, self._sender, self._announcer):
            thread.stop()
        self._watchdog.join(JOIN_SECONDS)

    def _capacity(self) -> int:
        """Return how many seats may hold attempts: 0 while the worker drains.

        While the broker is out of reach, only the seats that hold one count: no message reaches the others. A light
        worker needs no messages.
        """
        if running_table.drains:
            return 0
        if self._light is None and self._reach.away:
            return running_table.holding()
        return self._pool.size() * self._seats()

    def _seats(self) -> int:
        """Return the seats of each process."""
        return 1 if self._light is None else self._light.seats

    def _registered(self) -> None:
        """Dispatch. If the database was away at the start, it says only now that the pool is light: start anew."""
        if self._light is None and row_of_light(self._queue):
            self._abort("its pool is light")
        wakeup.request()

    def _hand_over(self, claimed: Sequence[Claimed]) -> None:
        """Queue the messages. A leader tries to send them even if the broker is away: no other leader could."""
        self._sender.hand_over(claimed, away=self._reach.away and not self._clock.leads.is_set())

    def _broker_changed(self) -> None:
        running_table.note_reach(cut_off=self._reach.away)
        self._heartbeat.beat_now()

    def _stop_in_good_order(self) -> None:
        """Send SIGTERM to this process, as a supervisor would: Celery takes no more messages, and lets jobs end."""
        os.kill(os.getpid(), signal.SIGTERM)

    def _abort(self, fault: str) -> None:
        telemetry.noticed("worker ends itself", because=fault, worker=self._name)
        self._end_at_once()

    def _end_at_once(self) -> None:
        """End all processes, and this one, at once: other workers are about to run our jobs."""
        for pid in self._pool.pids():
            kills.end(pid)
        os._exit(EXIT_START_ANEW)
