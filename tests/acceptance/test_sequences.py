"""Real workers, with more processes than a sequence may use: of both kinds of pools."""

from collections.abc import Sequence
from itertools import pairwise

import pytest

from jobs import async_, submit_many
from jobs.engine.verbs.revive import discard
from jobs.models import Job, Pool, Queue
from tests.acceptance.following import ended
from tests.factories import TenantFactory
from tests.sample import light
from tests.sample.sequenced import book, pay

pytestmark = pytest.mark.django_db(transaction=True)
A = "acct-7"


@pytest.fixture
def tenant():
    return TenantFactory(queue__num_slots=20)


def one_after_the_other(ids: Sequence[int]) -> bool:
    jobs = [ended(job_id) for job_id in ids]
    assert {job.status for job in jobs} == {"success"}
    return all(after.start_time >= before.end_time for before, after in pairwise(jobs))


def test_jobs_of_a_sequence_run_one_after_the_other_in_a_worker_with_more_processes(start_worker, tenant):
    start_worker(concurrency=3)
    ids = submit_many(async_(book, tenant=tenant).request(account=A, amount=n) for n in range(6))
    assert one_after_the_other(ids)


def test_jobs_of_a_sequence_run_one_after_the_other_in_the_seats_of_a_light_pool(start_worker, tenant):
    Queue.objects.create(name=light.QUEUE, pool="light")
    Pool.objects.create(name="light", kind="light", seats=50)
    start_worker("light", 1)
    ids = [async_(light.nothing, tenant=tenant, sequence=A)() for _ in range(6)]
    assert one_after_the_other(ids)


def test_a_failure_stops_its_sequence_until_it_is_discarded(start_worker, tenant):
    start_worker(concurrency=3)
    first = async_(pay, tenant=tenant)(account=A, amount=-1)
    last = async_(pay, tenant=tenant)(account=A)
    assert ended(first).status == "dead"
    assert ended(async_(pay, tenant=tenant)(account="acct-8")).status == "success"
    assert Job.objects.get(pk=last).status == "blocked"
    assert discard(first)
    assert ended(last).status == "success"
