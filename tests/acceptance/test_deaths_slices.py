"""A blow in the middle of a time slice: the message that brought the process to work named another job, long ended.

In each test a tenant has one slot and a short job before the one that is struck, so that this one follows it in the
same process; and somebody else, who has nothing to do with it, notices nothing.
"""

import os
import signal
from collections.abc import Callable

import pytest

from jobs.engine.verbs.cancel import cancel
from jobs.models import FailedAttempt, Job, Worker
from jobs.store import EVERY_TENANT
from tests.acceptance.following import bystanders_go_through, ended, held_lock, running
from tests.chaos.freezing import NUMBER, Held, has_ended, kill
from tests.factories import TenantFactory, ThingFactory
from tests.sample.models import Run, Thing
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.long("deaths of a job of several slices; slices are in tests/integration/engine/test_slices.py"),
]


@pytest.fixture
def thing() -> Thing:
    return ThingFactory(tenant=TenantFactory(queue__num_slots=1))


@pytest.fixture
def behind(thing, start_worker) -> Callable[..., int]:
    """The job that this call submits runs right behind another one: `behind(thing.async_.spin, stubborn=True)`."""

    def behind(call: Callable[..., int], *args: object, **kwargs: object) -> int:
        first = thing.async_.echo("before")
        job_id = call(*args, **kwargs)
        start_worker(concurrency=2)
        assert ended(first).status == "success"
        running(job_id)
        return job_id

    return behind


def is_settled(first_attempt_of: int) -> None:
    """What had ended before the blow stays as it was."""
    before = Job.objects.exclude(pk=first_attempt_of).earliest("pk")
    assert (before.status, before.attempt, before.crashes) == ("success", 1, 0)
    wait_until(lambda: not Job.objects.filter(slot__isnull=False).exists(), "all slots are free")


def test_its_process_is_killed(behind, thing):
    with held_lock(7):
        job_id = behind(thing.async_.wait_for_lock, 7)
        kill(running(job_id))
        bystanders_go_through()
        wait_until(lambda: Run.objects.filter(job_id=job_id).count() == 2, "it runs again")
    job = ended(job_id)
    assert (job.status, job.attempt, job.crashes) == ("success", 2, 1)
    assert FailedAttempt.objects.get(job=job).error_class == "ProcessDied"
    is_settled(job_id)


def test_a_job_that_ignores_its_time_limit_is_killed(behind, thing, environ):
    environ["JOBS_TIMEOUT_GRACE"] = "0.5"
    job_id = behind(thing.async_(timeout=1).spin, stubborn=True)
    bystanders_go_through()
    assert ended(job_id).last_error == "TimeoutError: timed out after 1 s and was killed"
    is_settled(job_id)


def test_a_job_that_uses_too_much_memory_is_killed(behind, thing, environ):
    environ["JOBS_MAX_CRASHES"] = "1"
    job_id = behind(thing.async_.swallow, 400)
    bystanders_go_through()
    assert ended(job_id).last_error.startswith("MemoryExceeded: used ")
    is_settled(job_id)


def test_a_job_that_ignores_its_cancellation_is_killed(behind, thing, environ):
    environ["JOBS_CANCEL_GRACE"] = "0.5"
    job_id = behind(thing.async_.spin, stubborn=True)
    child = running(job_id)
    cancel(job_id, tenant_id=EVERY_TENANT)
    bystanders_go_through()
    assert ended(job_id).status == "cancelled"
    wait_until(lambda: has_ended(child), "its process has ended")
    is_settled(job_id)


def test_its_worker_drains(behind, thing, start_worker):
    """It ends what runs, and what waits behind that goes to another worker."""
    with Held(NUMBER, 7) as body:
        job_id = behind(thing.async_.wait_for_lock, 7)
        drained = Worker.objects.get(pk=Job.objects.get(pk=job_id).worker)
        waiting = thing.async_.echo("behind it")
        os.kill(drained.pid, signal.SIGTERM)
        start_worker(concurrency=2)
        bystanders_go_through()
        body.release()
    assert ended(job_id).status == "success"
    behind_it = ended(waiting)
    assert (behind_it.status, behind_it.worker == drained.pk) == ("success", False)
    is_settled(job_id)
