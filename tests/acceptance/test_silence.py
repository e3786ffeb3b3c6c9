"""Real bodies that tell nothing any more: ended as such, and seen before by an operator, with real workers."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from jobs import async_
from jobs.models import FailedAttempt, Job, Pool, Queue
from tests.acceptance.following import ended
from tests.factories import TenantFactory
from tests.integration.cli.running import run
from tests.sample import light, silent
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
HANGS = "in hang\n"


def stack_of(job_id: int) -> str:
    """As an operator sees it."""
    wait_until(lambda: Job.objects.get(pk=job_id).progress, "it has told something")
    try:
        return run("jobs", "stack", job_id)
    finally:
        connection.close()


def test_a_silent_body_is_ended_or_killed_and_one_that_tells_its_progress_is_not(start_worker, environ):
    environ["JOBS_TIMEOUT_GRACE"] = "1.5"
    start_worker(concurrency=3)
    owner, stranger = TenantFactory(), TenantFactory()
    hangs, stubborn = (async_(silent.talk, tenant=owner)(words=4, then=then) for then in ("hang", "stubborn"))
    talks = async_(silent.talk, tenant=stranger)(words=8)
    with ThreadPoolExecutor(1) as other:
        told = other.submit(stack_of, stubborn).result(30)
    assert "/sample/silent.py" in told
    assert "engine" not in told
    assert (ended(talks).status, ended(hangs).last_error) == ("success", "TimeoutError: silent for 1 s")
    killed = ended(stubborn)
    assert (killed.last_error, killed.crashes) == ("TimeoutError: silent for 1 s and was killed", 0)


def test_a_body_that_keeps_the_loop_of_all_others_to_itself_is_seen_and_killed(start_worker, environ):
    environ["JOBS_TIMEOUT_GRACE"] = "3"
    Queue.objects.create(name=light.QUEUE, pool="light")
    Pool.objects.create(name="light", kind="light", seats=50)
    start_worker("light", 1)
    tenant, stranger = TenantFactory(), TenantFactory()
    other = async_(light.wait, tenant=stranger)(seconds=2)
    wait_until(Job.objects.filter(pk=other, status="running").exists, "the other job runs")
    guilty = async_(silent.block, tenant=tenant)()
    with ThreadPoolExecutor(1) as thread:
        told = thread.submit(stack_of, guilty).result(30)
    assert HANGS in told
    assert told.rstrip().endswith("in block")
    killed = ended(guilty)
    assert (killed.last_error, killed.crashes) == ("TimeoutError: silent for 1 s and was killed", 0)
    assert ended(other).status == "success"
    assert FailedAttempt.objects.get(job=other).error_class == "NeighbourEnded"
