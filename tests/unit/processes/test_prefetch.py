"""How many messages RabbitMQ may send: as many as there are idle processes, and never none, which would be any."""

from types import SimpleNamespace

import pytest
from celery.worker import state
from kombu.common import QoS

from jobs.processes.prefetch import CountIdleProcesses, IdleProcesses


class Message:
    """What a process is at."""


@pytest.fixture
def running(monkeypatch) -> set[Message]:
    monkeypatch.setattr(state, "active_requests", running := set())
    return running


def test_the_broker_is_told_when_a_process_begins_or_is_idle_again(running):
    told: list[int] = []
    qos = IdleProcesses(QoS(lambda *, prefetch_count: told.append(prefetch_count), 3), lambda: 3)
    for count in (0, 1, 2, 3, 3, 1):
        running.clear()
        running.update(Message() for _ in range(count))
        if qos.prev != qos.value:  # as Celery's loop does at each turn
            qos.update()
    assert told == [3, 2, 1, 2]


def test_what_celery_adds_and_takes_away_by_itself_changes_nothing(running):
    qos = IdleProcesses(QoS(lambda prefetch_count: None, 3), lambda: 3)
    qos.increment_eventually(5)
    qos.decrement_eventually(1)
    assert qos.value == 3


@pytest.mark.parametrize(("driver", "counts"), [("amqp", True), ("redis", False)])
def test_redis_has_a_setting_for_it(driver, counts):
    transport = SimpleNamespace(driver_type=driver)
    before = QoS(lambda prefetch_count: None, 2)
    consumer = SimpleNamespace(qos=before, connection=SimpleNamespace(transport=transport), pool=None)
    step = object.__new__(CountIdleProcesses)
    step.start(consumer)
    assert (consumer.qos is not before) == counts
