"""Limit the messages that RabbitMQ sends this worker to the number of its idle processes.

A message is acknowledged when a process takes it, and then the broker no longer counts it. Without this limit a busy
worker would hoard messages that an idle one could run. Redis has a setting for this (`worker_disable_prefetch`).
"""

from typing import Any

from celery import bootsteps
from celery.worker import state
from celery.worker.consumer.tasks import Tasks
from kombu.common import QoS

LEAST = 1  # 0 would mean "no limit" to Celery. So one message may wait at a busy worker; recover sends it again.


class IdleProcesses(QoS):
    """Computes `value`. At each turn Celery's loop sends the broker `value` if it has changed."""

    def __init__(self, before: QoS, processes: Any) -> None:
        self._processes = processes
        super().__init__(before.callback, before.value)

    @property
    def value(self) -> int:
        return max(int(self._processes()) - len(state.active_requests), LEAST)

    @value.setter
    def value(self, value: int) -> None:
        """Ignore assignments: the value is computed."""


class CountIdleProcesses(bootsteps.StartStopStep):
    """Runs after Celery's own step, which creates a new `qos` for each connection."""

    requires = (Tasks,)

    def start(self, consumer: Any) -> None:
        if consumer.connection.transport.driver_type != "redis":
            consumer.qos = IdleProcesses(consumer.qos, lambda: consumer.pool.num_processes)
