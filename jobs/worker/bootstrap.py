"""Extend a Celery worker: its identity, the threads of its parent, the clock. Loaded together with Celery's tasks."""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from celery import signals
from celery.concurrency.prefork import TaskPool

from jobs import telemetry
from jobs.celery import celery_app, checks_of_workers
from jobs.checks import refuse_to_start, refuse_unsafe_start
from jobs.conf import settings
from jobs.engine import dispatch
from jobs.engine.deaths import announce
from jobs.engine.dispatcher import Dispatcher
from jobs.store import LIVE_BEATS
from jobs.worker.children import kills
from jobs.worker.children.limits import Limits
from jobs.worker.children.reaping import ReapAtOnce
from jobs.worker.children.reconcile import Reconciler
from jobs.worker.children.reports import Reports
from jobs.worker.children.running_table import SEATS, desk
from jobs.worker.clock import Clock, Recorder, Schedules, Upkeep
from jobs.worker.consumer import TakeAttempts
from jobs.worker.message import WORKER_ID
from jobs.worker.prefetch import TakeOneAtATime
from jobs.worker.threads.announcer import Announcer
from jobs.worker.threads.heartbeat import Heartbeat, Identity
from jobs.worker.threads.sender import Sender
from jobs.worker.threads.wakeup import bell
from jobs.worker.threads.watchdog import Run, Watchdog

JOIN_SECONDS = 5.0
EXIT_START_ANEW = 75  # EX_TEMPFAIL: the supervisor starts a new worker, which registers anew
# Seconds for which a thread may stand still, at least. More where it runs a retry policy, or long statements.
PATIENCE, LONG_PATIENCE = 15.0, 60.0

celery_app().steps["consumer"].update({TakeOneAtATime, TakeAttempts, ReapAtOnce})

_stop = threading.Event()
_draining = threading.Event()
_at_drain: list[Callable[[], object]] = []
_at_end: list[Callable[[], object]] = []


@signals.celeryd_init.connect
def check_installation(instance: Any, **_: Any) -> None:
    """Refuse to start with an error of the system checks. A project's other apps need nothing of this."""
    if instance.app is celery_app():
        refuse_unsafe_start(*checks_of_workers())


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
    most = max(instance.autoscale or [instance.concurrency or 0])
    if most > SEATS:
        refuse_to_start(f"A worker has at most {SEATS} processes: -c {SEATS}; start more workers instead")


@signals.celeryd_after_setup.connect
def check_broker(instance: Any, **_: Any) -> None:
    """Check that the broker is no cluster of Redis, of which Celery knows nothing: each queue is on another server."""
    with instance.app.connection_for_read() as broker, suppress(Exception):  # out of reach: Celery tries again
        if broker.transport.driver_type != "redis":
            return
        broker.virtual_host = 0  # a database that clusters have, too
        broker.connect()
        if broker.channel().client.info("cluster").get("cluster_enabled"):
            refuse_to_start("CELERY_BROKER_URL names a cluster of Redis or Valkey: name one without cluster mode")


@signals.worker_ready.connect
def appear(sender: Any, **_: Any) -> None:
    """Start the threads. The last one registers the worker, when all others that carry jobs on are running."""
    if _at_end:
        return  # the consumer has only reconnected
    pool = sender.pool

    pids = partial(kills.pids_of, pool)

    def end_at_once() -> None:
        """End all processes at once: other workers are about to run our jobs."""
        for pid in pids():
            kills.end(pid)
        os._exit(EXIT_START_ANEW)

    def bite(fault: str) -> None:
        telemetry.noticed("worker ends itself", because=fault, worker=sender.hostname)
        end_at_once()

    heartbeat = Heartbeat(
        Identity(WORKER_ID, sender.hostname, next(iter(sender.app.amqp.queues.consume_from))),
        _stop,
        processes=lambda: 0 if _draining.is_set() else pool.num_processes,
        registered=bell.ring,
        gone=end_at_once,
    )
    watchdog = Watchdog(_stop, bite)
    stops = _start_threads(watchdog, heartbeat, pids)
    threading.Thread(target=watchdog.run, name="watchdog", daemon=True).start()
    _at_drain.append(heartbeat.beat_now)
    _at_end.extend([heartbeat.beat_now, *stops, lambda: watchdog.join(JOIN_SECONDS)])


def _start_threads(
    watchdog: Watchdog, heartbeat: Heartbeat, pids: Callable[[], list[int]]
) -> list[Callable[[], object]]:
    """Each with the seconds for which it may stand still; None: for as long as it likes. Returns their stops."""
    sending, announcer, clock, dispatcher = Sender(), Announcer(), Clock(_stop), Dispatcher(bell=bell)
    dispatch.connect(sending.hand_over)
    dispatch.relay_to(bell.ring)
    announce.announce_by(announcer.announce)

    patience = max(PATIENCE, LIVE_BEATS * settings.JOBS_BEAT_INTERVAL)
    threads: list[tuple[str, Run, float | None]] = [
        ("sender", sending.run, None),
        ("announcer", announcer.run, None),
        ("dispatcher", dispatcher.serve, None),
        ("limits", Limits(desk, _stop, pids).run, patience),
        ("reconcile", Reconciler(WORKER_ID, desk, _stop, pids).run, patience),
        ("reports", Reports(WORKER_ID, _stop).run, max(patience, LONG_PATIENCE)),
        ("clock", clock.run, max(patience, LONG_PATIENCE)),
        ("upkeep", Upkeep(_stop, clock).run, None),
        ("schedules", Schedules(_stop, clock).run, None),
        ("recorder", Recorder(_stop, clock).run, None),
        ("beat", heartbeat.run, patience),
    ]
    for name, run, patient in threads:
        watchdog.start(name, run, patient)
    return [dispatcher.stop, sending.stop, announcer.stop]


@signals.worker_shutting_down.connect
def drain(**_: Any) -> None:
    """Take no more jobs; let the running ones finish while the heartbeat goes on."""
    _draining.set()
    desk.drain()
    for step in _at_drain:
        step()


@signals.worker_shutdown.connect
def disappear(**_: Any) -> None:
    """Leave: the pool has stopped."""
    _stop.set()
    for step in _at_end:
        step()
