"""Let RabbitMQ send this worker one message at a time, and ask the other brokers only for its idle processes.

A message is acknowledged when a process takes it, and then RabbitMQ sends the next one. So one message may wait at
a busy worker; recover sends it again. With more, a busy worker would hoard messages that an idle one could run.
"""

from typing import Any

from celery import bootsteps
from celery.worker.consumer.tasks import Tasks
from kombu.common import QoS

PREFETCH_COUNT = 1

# A limit for the whole channel, which Celery sets unless it knows of a quorum queue, is refused by quorum queues.
# RabbitMQ may make them without Celery's knowledge, and RabbitMQ 4 deprecates such a limit for all queues.
Tasks.qos_global = lambda self, c: False  # type: ignore[method-assign]


class OneAtATime(QoS):
    """Celery sends the broker `value` if it has changed, which it never does."""

    value = property(lambda self: PREFETCH_COUNT, lambda self, value: None)  # ignores assignments


class TakeOneAtATime(bootsteps.StartStopStep):
    """Runs for each connection: after Celery's own step has set a limit, before the consumer begins."""

    requires = (Tasks,)

    def start(self, consumer: Any) -> None:
        remember_busy_processes(consumer.pool._pool)
        driver = consumer.connection.transport.driver_type
        if driver not in ("redis", "postgresql"):
            consumer.qos = OneAtATime(consumer.qos.callback, PREFETCH_COUNT)
            consumer.qos.update()  # now: RabbitMQ lets a consumer keep the limit with which it began
        else:
            fetch_for_idle_processes(consumer)


def remember_busy_processes(pool: Any) -> None:
    """Tell the pool, which forgets it when a connection is lost.

    It would give a message to a busy process beside an idle one, where it would wait until that job ends, and count as
    one that a process has. Not those that died: the pipe of the next process may have the same number.
    """
    busy: set[int] = getattr(pool, "_busy_workers", set())  # one without an event loop has none
    busy.update(job._write_to.inqW_fd for job in pool._cache.values() if job._write_to in pool._pool)


def fetch_for_idle_processes(consumer: Any) -> None:
    """Let it ask for a message only while a process has none, by what the pool has.

    Celery's own setting for Redis (`worker_disable_prefetch`) goes by what it reserved, and forgets that when a
    connection is lost, while its processes go on: with PostgreSQL as the broker, a busy worker would then take a
    message and hold it for ever beside an idle one. And like Kombu it goes by what was acknowledged: a message counts
    whose acknowledgement failed, until the consumer connects anew. After as many as it has processes a worker would
    ask for none any more.
    """
    pool, qos = consumer.pool, consumer.task_consumer.channel.qos
    qos.can_consume = lambda: len(pool._pool._cache) < pool.num_processes
