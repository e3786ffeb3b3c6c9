"""How many messages RabbitMQ may send this worker: as many as it has idle processes.

A message is acknowledged when a process takes it up, and so counts no more for the broker; without this a busy worker
would hoard what an idle one could run. Redis has a setting for that (`worker_disable_prefetch`).
"""

from typing import Any

from celery import bootsteps
from celery.worker import state
from celery.worker.consumer.tasks import Tasks
from kombu.common import QoS

LEAST = 1  # Celery's: 0 would be "any number". So one message may wait at a busy worker, and recover sends it again.


class IdleProcesses(QoS):
    """Celery's loop compares `value` with what the broker was last told, at each turn, and tells it the difference."""

    def __init__(self, before: QoS, processes: Any) -> None:
        self._processes = processes
        super().__init__(before.callback, before.value)

    @property
    def value(self) -> int:
        return max(int(self._processes()) - len(state.active_requests), LEAST)

    @value.setter
    def value(self, value: int) -> None:
        """It is counted, and not kept."""


class CountIdleProcesses(bootsteps.StartStopStep):
    """Follows Celery's own step, which makes a new `qos` for each connection."""

    requires = (Tasks,)

    def start(self, consumer: Any) -> None:
        if consumer.connection.transport.driver_type != "redis":
            consumer.qos = IdleProcesses(consumer.qos, lambda: consumer.pool.num_processes)
