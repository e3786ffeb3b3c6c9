"""RabbitMQ dies, with a quorum queue that it made without being asked for one: see docs/brokers.md."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from jobs.engine.process import runtime
from jobs.models import Job
from tests.acceptance import rabbitmq
from tests.acceptance.following import ended, held_lock, running
from tests.acceptance.rabbitmq import RabbitMQ
from tests.factories import ThingFactory
from tests.sample.models import Run
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.long("RabbitMQ's quorum queues"),
    pytest.mark.django_db(transaction=True),
    rabbitmq.INSTALLED,
]
PROCESSES, WAITING = 2, 3


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[RabbitMQ]:
    with rabbitmq.running(tmp_path) as broker:
        yield broker


def test_a_quorum_queue_keeps_what_waits_for_a_busy_worker_while_its_node_is_killed(
    broker, environ, start_worker, register
):
    runtime.change(carrier=rabbitmq.sent_to(broker.url))
    environ |= {"CELERY_BROKER_URL": broker.url, "JOBS_HAND_OVER_TIMEOUT": "3600"}  # nothing is sent again
    start_worker(concurrency=PROCESSES)
    register(concurrency=WAITING)  # idle, as PostgreSQL sees it; so all are handed over
    owner = ThingFactory(tenant__queue__num_slots=PROCESSES + WAITING)
    with ExitStack() as locks:
        for key in range(31, 31 + PROCESSES):
            locks.enter_context(held_lock(key))
            running(owner.async_.wait_for_lock(key))
        for number in range(WAITING):
            owner.async_.echo(f"waited {number}")
        wait_until(lambda: broker.waiting("default") == WAITING - 1, "one message is at the busy worker, the rest wait")
        broker.kill()
        wait_until(lambda: broker.waiting("default") == WAITING - 1, "the worker has reconnected; no message is lost")
        assert "default\tquorum" in broker.ctl("list_queues", "-p", rabbitmq.QUORUM, "name", "type")
    for job in Job.objects.all():
        assert (ended(job.pk).status, ended(job.pk).attempt) == ("success", 1)
        assert Run.objects.filter(job_id=job.pk).count() == 1
