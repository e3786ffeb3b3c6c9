"""How many messages a broker may send: RabbitMQ one at a time to each worker, Redis one for each idle process."""

from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from celery import VERSION
from celery.worker.consumer.tasks import Tasks
from kombu.transport import redis, virtual

from jobs.worker.prefetch import TakeOneAtATime


@pytest.fixture
def consumer() -> Mock:
    """A worker's consumer with three processes, just connected: its limits are calls of one `told`."""
    told = Mock()
    consumer = Mock(told=told, initial_prefetch_count=3)
    consumer.app.conf = SimpleNamespace(
        worker_detect_quorum_queues=True, worker_disable_prefetch=False, worker_eta_task_limit=None
    )
    consumer.pool._pool = SimpleNamespace(_busy_workers=set(), _cache={}, _pool=[])
    consumer.connection.qos_semantics_matches_spec = False
    consumer.connection.transport.driver_type = "amqp"
    consumer.connection.default_channel.basic_qos = lambda size, count, for_all: told(count, for_all)
    consumer.app.amqp.TaskConsumer.return_value.qos = lambda **limit: told(*limit.values())
    return consumer


def connect(consumer: Mock) -> None:
    for step in (Tasks, TakeOneAtATime):
        object.__new__(step).start(consumer)


@pytest.mark.skipif(VERSION < (5, 5), reason="Celery 5.4 limits whole channels: docs/own-project.md")
def test_the_last_limit_before_the_consumer_begins_is_one_and_none_is_for_the_whole_channel(consumer):
    connect(consumer)
    limits = [call.args for call in consumer.told.call_args_list]
    assert limits == [(3, False), (1, False)]
    assert consumer.qos.prev == consumer.qos.value  # or Celery's loop would set it again


def test_a_change_that_celery_makes_to_the_prefetch_has_no_effect(consumer):
    connect(consumer)
    consumer.qos.increment_eventually(5)
    consumer.qos.decrement_eventually(1)
    assert consumer.qos.prev == consumer.qos.value == 1


def test_redis_is_asked_for_idle_processes_only_and_for_all_of_them_though_connections_were_lost(consumer):
    consumer.connection.transport.driver_type = "redis"
    channel = consumer.app.amqp.TaskConsumer.return_value.channel
    channel.conn_or_acquire.side_effect, channel.do_restore = ConnectionError, False
    qos = channel.qos = redis.QoS(channel, prefetch_count=2)
    busy, dead = SimpleNamespace(inqW_fd=7), SimpleNamespace(inqW_fd=8)
    written = [SimpleNamespace(_write_to=process) for process in (busy, dead, None)]
    consumer.pool._pool._pool, consumer.pool._pool._cache = [busy], dict(enumerate(written))
    connect(consumer)
    assert consumer.pool._pool._busy_workers == {7}, "it would give the next message to one that runs a job"
    for tag in range(2):
        virtual.QoS.append(qos, "a message", tag)
        with pytest.raises(ConnectionError):
            qos.ack(tag)
    consumer.pool.num_processes = 2
    for running, asks in ((0, True), (1, True), (2, False)):
        consumer.pool._pool._cache = dict.fromkeys(range(running))
        assert qos.can_consume() is asks
    consumer.pool._pool = None  # of a worker that was stopped in haste
    assert qos.can_consume() is False
