"""Extend a Celery worker: its identity, the threads of its parent, the clock. Loaded together with Celery's tasks."""

import atexit
import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from celery import signals
from celery.apps import worker as celerys
from celery.concurrency.prefork import TaskPool
from django.db import DatabaseError, InterfaceError, connection

from jobs import telemetry
from jobs.celery import celery_app, checks_of_workers
from jobs.checks import refuse_shared_sessions, refuse_to_start, refuse_unsafe_start
from jobs.conf import settings
from jobs.engine.door.dispatcher import Dispatcher
from jobs.engine.process import runtime
from jobs.engine.process.runtime import Runtime
from jobs.reading.migrations import open_migrations
from jobs.store import LIVE_BEATS, Claimed
from jobs.worker.children import kills
from jobs.worker.children.kills import Pool
from jobs.worker.children.limits import Limits
from jobs.worker.children.reaping import ReapAtOnce
from jobs.worker.children.reconcile import Reconciler
from jobs.worker.children.reports import Reports
from jobs.worker.children.running_table import MAX_PROCESSES, running_table
from jobs.worker.clock import Clock, Schedules, Webhooks, recorder, upkeep
from jobs.worker.consumer import HangUp, TakeAttempts, takes_messages
from jobs.worker.message import WORKER_ID
from jobs.worker.prefetch import TakeOneAtATime
from jobs.worker.stopping import EndProcesses, drain_first
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

celery_app().steps["consumer"].update({HangUp, TakeOneAtATime, TakeAttempts, ReapAtOnce})
celery_app().steps["worker"].add(EndProcesses)

say = celerys.safe_say  # type: ignore[attr-defined]  # not in its stubs


def say_if_possible(*said: Any) -> None:
    """Print Celery's last lines if that is possible: a full disk, or a closed pipe, must not keep it from stopping."""
    with suppress(OSError):
        say(*said)


celerys.safe_say = say_if_possible  # type: ignore[attr-defined]

_parent: "Parent | None" = None  # of this process, when the worker is ready


@signals.celeryd_init.connect
def check_installation(instance: Any, **_: Any) -> None:
    """Refuse to start with an error of the system checks. The project's other apps of Celery are not checked."""
    if instance.app is celery_app():
        refuse_unsafe_start(*checks_of_workers())


@signals.celeryd_init.connect
def drain_before_a_soft_stop(instance: Any, **_: Any) -> None:
    """Let the worker drain before a soft stop, which waits for the running jobs: it must get no others meanwhile."""
    drain_first(instance, drain)


@signals.celeryd_after_setup.connect
def check_pool(instance: Any, **_: Any) -> None:
    """Check that the worker serves one pool by processes: only a process can be ended at a limit."""
    pools = list(instance.app.amqp.queues.consume_from)
    if len(pools) != 1:
        # Otherwise its processes would count as the capacity of several pools.
        refuse_to_start(f"A worker serves one pool; start one for each: -Q {' / -Q '.join(sorted(pools))}")
    if pools[0] == instance.app.conf.task_default_queue:
        refuse_to_start(
            f"Celery tasks are sent to the queue {pools[0]}, and this worker would refuse them: it runs jobs. Name a "
            "pool, as in -Q default; for tasks start a worker of another app (docs/own-project.md, Celery tasks)"
        )
    if not issubclass(instance.pool_cls, TaskPool):
        refuse_to_start("A worker runs its jobs in processes: use -P prefork, the default")
    if instance.autoscale:  # it never would: a worker is sent no more jobs than it has processes
        refuse_to_start("A worker does not grow by itself: name its processes, as in -c 8, instead of --autoscale")
    for option, limit in (("--time-limit", instance.time_limit), ("--soft-time-limit", instance.soft_time_limit)):
        if limit:  # it would count for a message, which is for several jobs, and end the process of a job in its time
            refuse_to_start(f"A worker has no {option}: each job has its own limit, @job(timeout=...) or its queue's")
    if (instance.concurrency or 0) > MAX_PROCESSES:
        refuse_to_start(
            f"A worker has at most {MAX_PROCESSES} processes: -c {MAX_PROCESSES}; start more workers instead"
        )


@signals.celeryd_after_setup.connect
def check_broker(instance: Any, **_: Any) -> None:
    """Check that the broker is no cluster of Redis: each queue would be on another server, and Celery cannot follow."""
    with instance.app.connection_for_read() as broker, suppress(Exception):  # out of reach: Celery tries again
        if broker.transport.driver_type != "redis":
            return
        broker.virtual_host = 0  # a database that clusters have, too
        broker.connect()
        if broker.channel().client.info("cluster").get("cluster_enabled"):
            refuse_to_start("CELERY_BROKER_URL names a cluster of Redis or Valkey: name one without cluster mode")


@signals.celeryd_after_setup.connect
def check_database(**_: Any) -> None:
    """Check that the sessions of this worker are its own."""
    refuse_shared_sessions()


@signals.celeryd_after_setup.connect
def check_schema(**_: Any) -> None:
    """Check, if the database answers, that it is migrated: otherwise the worker would take messages and start no job.

    This query has a second use: `django.contrib.postgres` learns its types before the processes are forked. Otherwise
    each process would open Django's session beside the engine's, only to ask for the types.
    """
    with suppress(DatabaseError, InterfaceError):
        if lacking := open_migrations():
            sys.stderr.write(f"The database lacks migrations: {', '.join(lacking)}. Type: manage.py migrate\n")
            raise SystemExit(EXIT_START_ANEW)
    connection.close()


@signals.celeryd_after_setup.connect  # all modules are imported; the pool starts next
def freeze(**_: Any) -> None:
    """Exclude all present objects from garbage collection, so that the processes keep sharing the parent's memory.

    The collector writes into each object that it visits, and the kernel then copies the page: soon every process would
    have its own copy of all imported modules. A replaced process is forked from the same parent.
    """
    gc.collect()
    gc.freeze()


class Parent:
    """The threads of a worker's parent process."""

    def __init__(self, consumer: Any) -> None:
        """Make the threads. The consumer is Celery's, and ready."""
        self._name, self._pool = consumer.hostname, Pool(consumer.pool)
        self._stop = threading.Event()
        self._watchdog = Watchdog(self._stop, self._abort)
        queue = next(iter(consumer.app.amqp.queues.consume_from))  # named as the pool
        self._reach = Reach(
            self._stop, lambda: running_table.drains or takes_messages(consumer, queue), self._broker_changed
        )
        self._heartbeat = Heartbeat(
            WORKER_ID,
            self._name,
            queue,
            self._stop,
            seats=running_table.seats,
            capacity=self._capacity,
            cut_off=lambda: self._reach.away,
            registered=wakeup.request,
            drain=self._stop_in_good_order,
            gone=self._end_at_once,
        )
        self._clock = Clock(self._stop, away=lambda: self._reach.away)
        self._sender, self._announcer, self._dispatcher = Sender(), Announcer(), Dispatcher(wakeup=wakeup)

    def start(self) -> None:
        """Start the threads. The last one registers the worker, when all others that carry jobs on are running."""
        runtime.start(Runtime(self._hand_over, wakeup.request, self._announcer.announce))
        stop, pool, clock = self._stop, self._pool, self._clock
        standstill = max(MAX_STANDSTILL, LIVE_BEATS * settings.JOBS_BEAT_INTERVAL)
        threads: list[tuple[str, Run, float | None]] = [  # None: no limit of its standstill
            ("reach", self._reach.run, None),
            ("sender", self._sender.run, None),
            ("announcer", self._announcer.run, None),
            ("dispatcher", self._dispatcher.serve, None),
            ("limits", Limits(running_table, stop, pool).run, standstill),
            ("reconcile", Reconciler(WORKER_ID, running_table, stop, pool).run, standstill),
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

    def drain(self) -> None:
        """Beat at once, so that PostgreSQL knows that this worker takes no more jobs."""
        self._heartbeat.beat_now()

    def stop(self) -> None:
        """End the threads, after the pool has stopped."""
        self._stop.set()
        self._heartbeat.beat_now()
        for thread in (self._dispatcher, self._sender, self._announcer):
            thread.stop()
        self._watchdog.join(JOIN_SECONDS)

    def _capacity(self) -> int:
        """Return how many seats may hold attempts: 0 while the worker drains.

        While the broker is out of reach, only the seats that hold one count: no message reaches the others.
        """
        if running_table.drains:
            return 0
        return running_table.holding() if self._reach.away else self._pool.size() * running_table.seats

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


@signals.worker_ready.connect
def start_threads(sender: Any, **_: Any) -> None:
    """Start the threads, unless the consumer has only reconnected."""
    global _parent  # noqa: PLW0603 - between Celery's signals
    if _parent is None:
        _parent = Parent(sender)
        _parent.start()
        atexit.register(stop_threads)  # Celery sends no signal when it stops in haste


@signals.worker_shutting_down.connect
def drain(**_: Any) -> None:
    """Take no more jobs; let the running ones finish while the heartbeat goes on."""
    running_table.drain()
    if _parent is not None:
        _parent.drain()


@signals.worker_shutdown.connect
def stop_threads(**_: Any) -> None:
    """End the threads of the parent, after the pool has stopped."""
    global _parent
    if _parent is not None:
        parent, _parent = _parent, None
        parent.stop()
