"""A project's Celery tasks beside its jobs: each has workers of its own, of an app of its own."""

import os
import sys

import pytest
from celery import current_app

from embedded import fleet
from jobs import async_
from jobs.models import Worker
from tests.acceptance.following import ended
from tests.factories import TenantFactory
from tests.sample.celery_tasks import export, remember, remember_by_a_task
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

THREADS_OF_TWO_QUEUES = ["worker", "-Q", "celery,letters", "-P", "threads", "-c", "2"]


@pytest.fixture
def own_worker(environ, processes, tmp_path):
    """A worker as no worker of jobs may be: of two queues, with threads."""
    current_app.control.purge()
    command = [sys.executable, "-m", "celery", "-A", "tests.sample.celery_own", *THREADS_OF_TWO_QUEUES]
    return processes.start("own", command, environ, log=tmp_path / "own.log")


def test_tasks_run_in_their_workers_and_jobs_in_theirs(own_worker, start_worker, tmp_path):
    start_worker()
    written = tmp_path / "written"
    remember.delay(str(written), "from a request")
    remember.apply_async((str(written), "by post"), queue="letters")
    assert ended(async_(remember_by_a_task, tenant=TenantFactory())(str(written))).status == "success"
    wait_until(lambda: written.exists() and len(written.read_text().splitlines()) == 3, "all tasks ran")
    assert sorted(written.read_text().splitlines()) == ["by post", "from a job", "from a request"]
    retried = tmp_path / "retried"
    sent = export.delay(TenantFactory().pk, how="badly", path=str(retried))
    wait_until(lambda: retried.exists() and retried.read_text(), "the hook of its class was called")
    assert retried.read_text() == f"on_retry of {sent.id}"
    assert own_worker.alive
    assert Worker.objects.count() == 1, "only the worker of jobs"


def test_a_worker_of_jobs_does_not_take_the_queue_of_tasks(environ, processes, tmp_path):
    log = tmp_path / "worker.log"
    process = processes.start("worker", *fleet.worker("celery", 1, environ=environ), log=log)
    assert process.wait(60) == os.EX_CONFIG
    assert "Celery tasks are sent to the queue celery" in log.read_text()
