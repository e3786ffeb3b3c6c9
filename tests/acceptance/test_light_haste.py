"""A light worker that is told to stop in haste."""

import os
import signal

import pytest

from jobs import async_
from jobs.models import Job, Pool, Queue
from tests.factories import TenantFactory
from tests.sample import light
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_light_worker_that_is_interrupted_twice_gives_its_attempts_back_without_a_crash(start_worker, tmp_path):
    Queue.objects.create(name=light.QUEUE, pool="light")
    Pool.objects.create(name="light", kind="light", seats=8)
    tenant = TenantFactory(queue__num_slots=5)
    worker = start_worker("light", 2)
    for _ in range(3):
        async_(light.wait, tenant=tenant)(seconds=40)
    wait_until(lambda: Job.objects.filter(status="running").count() == 3, "they run")
    [log] = tmp_path.glob("light*.log")
    os.kill(worker.pid, signal.SIGINT)
    wait_until(lambda: "Warm shutdown" in log.read_text(), "it drains")
    os.kill(worker.pid, signal.SIGINT)
    wait_until(lambda: not worker.alive, "it has ended")
    assert set(Job.objects.values_list("attempt", "crashes")) == {(1, 0)}
    assert not Job.objects.filter(status="running").exists()
