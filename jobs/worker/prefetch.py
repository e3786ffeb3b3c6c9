"""Let RabbitMQ send this worker one message at a time. For Redis, Celery has a setting (`worker_disable_prefetch`).

A message is acknowledged when a process takes it, and then the broker sends the next one. So one message may wait at
a busy worker; recover sends it again. With more, a busy worker would hoard messages that an idle one could run.
"""

from typing import Any

from celery import VERSION, bootsteps
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
        driver = consumer.connection.transport.driver_type
        if driver not in ("redis", "postgresql"):
            consumer.qos = OneAtATime(consumer.qos.callback, PREFETCH_COUNT)
            consumer.qos.update()  # now: RabbitMQ lets a consumer keep the limit with which it began
        elif driver == "postgresql" or VERSION < (5, 6):  # without the setting
            fetch_for_idle_processes(consumer)


def fetch_for_idle_processes(consumer: Any) -> None:
    """Let it ask for a message only while a process has none; as Celery's setting does.

    But by what the pool has: Celery forgets what it reserved when a connection is lost, and its processes go on. With
    PostgreSQL as the broker, a busy worker would then take a message and hold it for ever beside an idle one.
    """
    qos = consumer.task_consumer.channel.qos
    allowed = qos.can_consume
    qos.can_consume = lambda: len(consumer.pool._pool._cache) < consumer.pool.num_processes and allowed()
