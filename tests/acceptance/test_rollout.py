"""Workers of two releases side by side, while the newer one is rolled out."""

import os
import signal

import pytest

from jobs import async_
from jobs.models import FailedAttempt, Job
from tests.acceptance.following import ended
from tests.factories import TenantFactory
from tests.sample import tasks
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.long(
        "that a worker of the new release gets what one of the old did not know; test_unknown has the rest"
    ),
]


def test_a_job_of_the_new_release_waits_at_an_old_worker_and_runs_at_a_new_one(start_worker, environ):
    old = start_worker(concurrency=1)
    job_id = async_(tasks.greet, tenant=TenantFactory(), delay=1)("Ines")
    Job.objects.filter(pk=job_id).update(source_method="welcome")  # of release 2
    wait_until(lambda: FailedAttempt.objects.filter(error_class="UnknownJobType").exists(), "the old worker met it")
    environ["SAMPLE_RELEASE"] = "2"
    start_worker(concurrency=1)
    os.kill(old.pid, signal.SIGTERM)
    job = ended(job_id)
    assert (job.status, job.retries, job.crashes) == ("success", 0, 0)
