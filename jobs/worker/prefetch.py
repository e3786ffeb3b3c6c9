"""Let RabbitMQ send this worker one message at a time; ask other brokers for one only while a process is idle.

A message is acknowledged when a process takes it, and then RabbitMQ sends the next one. So one message may wait at
a busy worker; recover sends it again. With more, a busy worker would keep messages that an idle worker could run.
"""

from typing import Any

from celery import bootsteps
from celery.worker.consumer.tasks import Tasks
from kombu.common import QoS

PREFETCH_COUNT = 1

# Celery sets a limit for the whole channel unless it knows of a quorum queue, and quorum queues refuse such a limit.
# RabbitMQ may make them without Celery's knowledge, and RabbitMQ 4 deprecates a limit of the channel for all queues.
Tasks.qos_global = lambda self, c: False  # type: ignore[method-assign]


class OneAtATime(QoS):
    """A QoS whose `value` never changes: Celery sends it to the broker only after a change."""

    value = property(lambda self: PREFETCH_COUNT, lambda self, value: None)  # ignores assignments


class TakeOneAtATime(bootsteps.StartStopStep):
    """The step for each connection: it runs after Celery has set its own limit, and before the consumer begins."""

    requires = (Tasks,)

    def start(self, consumer: Any) -> None:
        remember_busy_processes(consumer.pool._pool)
        driver = consumer.connection.transport.driver_type
        if driver not in ("redis", "postgresql"):
            consumer.qos = OneAtATime(consumer.qos.callback, PREFETCH_COUNT)
            consumer.qos.update()  # now: for RabbitMQ a consumer keeps the limit with which it began
        else:
            fetch_for_idle_processes(consumer)


def remember_busy_processes(pool: Any) -> None:
    """Mark the busy processes in the pool again: it forgets them when a connection is lost.

    Otherwise it would give a message to a busy process beside an idle one. The message would wait until that job ends,
    and count as one that a process has. Dead processes are left out: the next one's pipe may have the same number.
    """
    busy: set[int] = getattr(pool, "_busy_workers", set())  # a pool without an event loop has no such set
    busy.update(job._write_to.inqW_fd for job in pool._cache.values() if job._write_to in pool._pool)


def fetch_for_idle_processes(consumer: Any) -> None:
    """Let the consumer ask for a message only while a process of the pool has none.

    Celery's own setting for Redis (`worker_disable_prefetch`) would be wrong in two cases:

    * It counts what Celery has reserved, and forgets that when a connection is lost, while the processes go on. With
      PostgreSQL as the broker, a busy worker would then take a message, and hold it for ever beside an idle worker.
    * Like Kombu it counts what was not acknowledged. A message whose acknowledgement failed counts until the consumer
      reconnects. After as many of them as it has processes, a worker would ask for no message any more.

    At a stop in haste Celery asks once more when the pool is gone; an error there would make it a warm stop.
    """
    pool, qos = consumer.pool, consumer.task_consumer.channel.qos
    qos.can_consume = lambda: pool._pool is not None and len(pool._pool._cache) < pool.num_processes
