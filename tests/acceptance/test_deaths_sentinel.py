"""The master that sentinels watch dies under a running job: see docs/brokers.md."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.engine.process import runtime
from jobs.models import Job
from tests.acceptance import sentinel
from tests.acceptance.following import ended, held_lock, running
from tests.acceptance.sentinel import Watched
from tests.factories import ThingFactory
from tests.sample.models import Run

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.long("Sentinel; that a lost message is sent again is in test_execution.py"),
]


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    with sentinel.running(tmp_path) as watched:
        yield watched


def test_nothing_is_lost_when_the_replica_takes_over_from_a_master_that_was_killed(watched, environ, start_worker):
    runtime.change(carrier=lambda claimed: None)  # our broker is another: what we claim, the worker's clock sends
    environ |= watched.environ
    worker = start_worker(concurrency=2)
    thing = ThingFactory(tenant__queue__num_slots=3)
    with held_lock(33):
        running(thing.async_.wait_for_lock(33))
        before = ended(thing.async_.echo("before"))
        watched.kill_master()
        after = [thing.async_.echo(f"after {number}") for number in range(5)]
        assert all(ended(job_id).status == "success" for job_id in after)
    for job in Job.objects.all():
        assert (ended(job.pk).status, ended(job.pk).attempt) == ("success", 1)
        assert Run.objects.filter(job_id=job.pk).count() == 1
    assert before.status == "success"
    assert worker.alive
