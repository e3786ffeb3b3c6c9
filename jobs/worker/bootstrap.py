"""Extend a Celery worker: its identity, the threads of its parent, the clock. Loaded together with Celery's tasks."""

import atexit
import gc
import time
from contextlib import suppress
from typing import Any

from celery import signals
from celery.apps import worker as celerys
from celery.concurrency.prefork import TaskPool
from django.db import DatabaseError, InterfaceError, connection

from jobs import telemetry
from jobs.celery import celery_app, checks_of_workers
from jobs.checks import refuse_shared_sessions, refuse_to_start, refuse_unsafe_start
from jobs.checks.light import refuse_unfit_light_pool
from jobs.reading.migrations import open_migrations
from jobs.worker import light
from jobs.worker.children.reaping import ReapAtOnce
from jobs.worker.children.running_table import MAX_PROCESSES, running_table
from jobs.worker.consumer import HangUp, TakeAttempts
from jobs.worker.light.parent import LetSeatsEnd
from jobs.worker.parent import Parent, row_of_light
from jobs.worker.prefetch import TakeOneAtATime
from jobs.worker.stopping import EndProcesses, drain_first
from jobs.worker.threads.beat_file import BeatFile

LOOK_INTERVAL = 2.0  # seconds between two looks at a database that is not migrated

celery_app().steps["consumer"].update({HangUp, TakeOneAtATime, TakeAttempts, ReapAtOnce})
celery_app().steps["worker"].update({EndProcesses, LetSeatsEnd})

say = celerys.safe_say  # type: ignore[attr-defined]  # not in its stubs


def say_if_possible(*said: Any) -> None:
    """Print Celery's last lines if that is possible: a full disk, or a closed pipe, must not keep it from stopping."""
    with suppress(OSError):
        say(*said)


celerys.safe_say = say_if_possible  # type: ignore[attr-defined]

_parent: Parent | None = None  # of this process, when the worker is ready


@signals.celeryd_init.connect
def check_installation(instance: Any, **_: Any) -> None:
    """Refuse to start with an error of the system checks. The project's other apps of Celery are not checked."""
    if instance.app is celery_app():
        refuse_unsafe_start(*checks_of_workers())
        BeatFile().remove()


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
    """Wait, if the database answers, until it is migrated: before, the worker would take messages and start no job.

    So worker and migration may be started together, and a rollout ends no worker of the old release before its time.

    This query has a second use: `django.contrib.postgres` learns its types before the processes are forked. Otherwise
    each process would open Django's session beside the engine's, only to ask for the types.
    """
    lacking = _lacking(otherwise=[])
    if lacking:
        telemetry.noticed("database lacks migrations, waiting for manage.py migrate", lacks=",".join(lacking))
    while lacking:
        time.sleep(LOOK_INTERVAL)
        lacking = _lacking(otherwise=lacking)


def _lacking(otherwise: list[str]) -> list[str]:
    """Return the migrations that the database lacks; if it does not answer, what was known before."""
    try:
        return open_migrations()
    except (DatabaseError, InterfaceError):
        return otherwise
    finally:
        connection.close()


@signals.celeryd_after_setup.connect
def take_kind_of_pool(instance: Any, **_: Any) -> None:
    """Become a light worker if the pool is light, by the database. If it is away: see `Parent._registered`."""
    with suppress(DatabaseError, InterfaceError):
        pool = next(iter(instance.app.amqp.queues.consume_from))
        if (row := row_of_light(pool)) is not None:
            refuse_unfit_light_pool(pool)
            light.become_light(row, instance.concurrency)
    connection.close()


@signals.celeryd_after_setup.connect  # all modules are imported; the pool starts next
def freeze(**_: Any) -> None:
    """Exclude all present objects from garbage collection, so that the processes keep sharing the parent's memory.

    The collector writes into each object that it visits, and the kernel then copies the page: soon every process would
    have its own copy of all imported modules. A replaced process is forked from the same parent.
    """
    gc.collect()
    gc.freeze()


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
