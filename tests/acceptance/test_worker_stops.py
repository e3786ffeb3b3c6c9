"""A worker that is told to stop: by SIGTERM, or by an operator through the database."""

import os
import signal
from pathlib import Path

import pytest

from jobs.engine.drain import drain
from jobs.models import Job, Worker
from tests.acceptance.following import ended, held_lock, running
from tests.factories import ThingFactory
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_idle_worker_stops_as_soon_as_it_is_told_to(start_worker, tmp_path):
    worker = start_worker(concurrency=2)
    os.kill(worker.pid, signal.SIGTERM)
    assert worker.wait(30) == 0
    [log] = map(Path.read_text, tmp_path.glob("default*.log"))
    assert "this clock leads" in log  # all of its threads were at work
    assert "thread did not stop" not in log


@pytest.mark.long("that a real worker stops when its row says so; test_parent_threads has what its heartbeat hears")
def test_a_worker_that_is_asked_to_drain_lets_its_job_end_and_takes_no_other(start_worker):
    worker, thing = start_worker(concurrency=1), ThingFactory(tenant__queue__num_slots=5)
    with held_lock(7):
        job_id = thing.async_.wait_for_lock(7)
        running(job_id)
        assert drain(Worker.objects.get().pk)
        waits = thing.async_.echo()
        seen = Worker.objects.get().beat_at
        wait_until(lambda: Worker.objects.get().beat_at > seen, "it hears of it")
        assert worker.alive
    assert ended(job_id).status == "success"
    assert worker.wait(30) == 0
    gone = Worker.objects.get()
    assert (gone.gone_at is None, gone.lost) == (False, False)
    assert Job.objects.get(pk=waits).status == "created"
