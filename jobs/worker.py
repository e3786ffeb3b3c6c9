"""What a Celery worker process adds: an identity, its presence, and the clock. Loaded where Celery's tasks are."""

import threading
from typing import Any

from celery import signals

from jobs import memory
from jobs.clock import Clock
from jobs.desk import desk
from jobs.presence import Identity, Presence
from jobs.tasks import WORKER_ID

JOIN_SECONDS = 5.0

_stop = threading.Event()
_draining = threading.Event()
_threads: list[threading.Thread] = []
_presence: list[Presence] = []


@signals.celeryd_after_setup.connect
def check_pool(instance: Any, **_: Any) -> None:
    """A worker serves one pool: its processes would otherwise be counted as the capacity of several."""
    pools = list(instance.app.amqp.queues.consume_from)
    if len(pools) != 1:
        raise SystemExit(f"A worker serves one pool; start one for each: -Q {' / -Q '.join(sorted(pools))}")


@signals.worker_ready.connect
def appear(sender: Any, **_: Any) -> None:
    """Register, beat, and carry the clock."""
    pool = sender.pool
    presence = Presence(
        Identity(WORKER_ID, sender.hostname, next(iter(sender.app.amqp.queues.consume_from))),
        _stop,
        processes=lambda: 0 if _draining.is_set() else pool.num_processes,
        children=lambda: [process.pid for process in pool._pool._pool],
    )
    _presence.append(presence)
    for name, run in (
        ("presence", presence.run),
        ("clock", Clock(_stop).run),
        ("memory", lambda: memory.watch.run(_stop)),
    ):
        thread = threading.Thread(target=run, name=name, daemon=True)
        _threads.append(thread)
        thread.start()


@signals.worker_shutting_down.connect
def drain(**_: Any) -> None:
    """Take nothing more; what runs is left to end, under a presence that goes on beating."""
    _draining.set()
    desk.drain()
    for presence in _presence:
        presence.beat_now()


@signals.worker_shutdown.connect
def disappear(**_: Any) -> None:
    """The pool has stopped: leave."""
    _stop.set()
    for presence in _presence:
        presence.beat_now()
    for thread in _threads:
        thread.join(JOIN_SECONDS)
