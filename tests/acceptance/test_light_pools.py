"""A light worker: many attempts in one process, by a real Celery worker."""

from collections import Counter

import pytest
from django.db import transaction

from jobs import async_, submit_many
from jobs.engine.verbs.cancel import cancel
from jobs.models import FailedAttempt, Job, Pool, Queue
from jobs.store import results
from tenants.models import Tenant
from tests.acceptance.following import ended
from tests.factories import TenantFactory, ThingFactory
from tests.sample import light
from tests.sample.light_load import LIGHT_WAYS
from tests.sample.ways import NOTHING
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def light_pool() -> Pool:
    Queue.objects.create(name=light.QUEUE, pool="light")
    return Pool.objects.create(name="light", kind="light", seats=50)


@pytest.fixture
def tenant() -> Tenant:
    return TenantFactory(queue__num_slots=20)


def started(job_id: int) -> Job:
    """The job, once it runs."""
    running = Job.objects.filter(pk=job_id, status="running")
    wait_until(running.exists, f"job {job_id} runs")
    return running.get()


def test_a_coroutine_runs_in_a_seat_of_a_light_process(light_pool, start_worker, tenant):
    start_worker("light", 1)
    job = ended(async_(light.who, tenant=tenant)())
    assert (job.status, job.last_error) == ("success", "")
    assert results.load(job).value == {"pid": job.worker_pid, "tenant": str(tenant), "id": job.pk}


def test_many_attempts_wait_in_one_process_and_no_tenant_takes_more_than_its_slots(light_pool, start_worker, tenant):
    start_worker("light", 1)
    stranger = TenantFactory(queue__num_slots=3)
    with transaction.atomic():  # so that all wait at once, however slow the machine is
        for who in (tenant, stranger):
            store_many(who, 30, 0.3)
    most = Counter()
    wait_until(lambda: note_most(most) or not Job.objects.exclude(status="success").exists(), "all have ended")
    assert most[tenant.pk] <= 20
    assert most[stranger.pk] <= 3
    assert max(most.values()) > 3


def store_many(tenant: Tenant, number: int, seconds: float) -> None:
    submit_many([async_(light.wait, tenant=tenant).request(seconds=seconds) for _ in range(number)])


def note_most(most: Counter) -> None:
    running = Counter(Job.objects.filter(slot__isnull=False).values_list("tenant_id", flat=True))
    most |= running


def test_a_coroutine_beyond_its_limit_is_cancelled_and_fails(light_pool, start_worker, tenant):
    start_worker("light", 1)
    job = ended(async_(light.wait, tenant=tenant, timeout=0.2)(seconds=60))
    assert (job.status, job.last_error) == ("error", "TimeoutError: timed out after 0.2 s")


def test_a_coroutine_that_was_asked_to_stop_is_cancelled_beside_the_others(light_pool, start_worker, tenant):
    start_worker("light", 1)
    stopped, other = (started(async_(light.wait, tenant=tenant)(seconds=seconds)) for seconds in (60, 1))
    cancel(stopped.pk, tenant_id=tenant.pk)
    assert ended(stopped.pk).status == "cancelled"
    assert ended(other.pk).status == "success"
    assert Job.objects.get(pk=other.pk).attempt == 1


def test_a_failure_is_kept_and_its_slot_is_free(light_pool, start_worker, tenant):
    start_worker("light", 1)
    job = ended(async_(light.fail, tenant=tenant)(text="no such mailbox"))
    assert (job.status, job.last_error) == ("error", "ValueError: no such mailbox")
    assert "in fail" in FailedAttempt.objects.get(job=job).traceback
    assert ended(async_(light.nothing, tenant=tenant)()).status == "success"


def test_a_body_that_blocks_the_loop_beyond_its_limit_is_ended_and_the_others_run_again(
    light_pool, start_worker, tenant, settings
):
    start_worker("light", 1)
    other = started(async_(light.wait, tenant=tenant)(seconds=4))
    blocking = ended(async_(light.block, tenant=tenant, timeout=0.2)(seconds=60))
    assert (blocking.status, blocking.last_error) == ("error", "TimeoutError: timed out after 0.2 s and was killed")
    again = ended(other.pk)
    assert (again.status, again.attempt, again.crashes) == ("success", 2, 0)


def test_the_orm_calls_of_many_attempts_share_a_few_sessions(light_pool, start_worker, tenant):
    start_worker("light", 1)
    ids = [async_(light.count_things, tenant=tenant)(times=5) for _ in range(40)]
    sessions = set().union(*(results.load(ended(job_id)).value for job_id in ids))
    assert 1 < len(sessions) <= 8


@pytest.mark.parametrize("left", ["no transaction", "an open transaction", "a failed transaction", "a block"])
def test_nothing_that_a_coroutine_leaves_in_a_session_is_there_for_another_tenant(
    left, light_pool, start_worker, tenant
):
    start_worker("light", 1)
    stranger = TenantFactory()
    for way in LIGHT_WAYS:
        ended(async_(light.leave, tenant=tenant)(way=way, left=left))
        assert results.load(ended(async_(light.find, tenant=stranger)(way=way))).value == NOTHING, way


def test_a_task_that_exits_ends_its_own_attempt_and_the_loop_goes_on_for_the_others(light_pool, start_worker, tenant):
    start_worker("light", 1)
    other = started(async_(light.wait, tenant=tenant)(seconds=1))
    exited = ended(async_(light.end_the_loop, tenant=tenant)())
    assert (exited.status, exited.attempt, exited.last_error) == ("error", 1, "SystemExit: ")
    again = ended(other.pk)
    assert (again.status, again.attempt) == ("success", 1)


def test_rows_that_are_read_in_parts_are_all_there_and_the_loop_stays_that_of_all(light_pool, start_worker, tenant):
    start_worker("light", 1)
    things = [ThingFactory(tenant=tenant).pk for _ in range(5)]
    ids = [async_(light.strain, tenant=tenant)() for _ in range(20)]
    for job_id in ids:
        found, refused = results.load(ended(job_id)).value
        assert (found, refused[:37]) == (things, "The event loop of a light pool, with ")


@pytest.mark.parametrize(("awaits", "status"), [(False, 0), (True, 1)])
def test_a_process_that_a_coroutine_forks_ends_and_runs_nothing_of_the_others(
    awaits, status, light_pool, start_worker, tenant
):
    start_worker("light", 1)
    other = started(async_(light.wait, tenant=TenantFactory())(seconds=1))
    forked = ended(async_(light.fork, tenant=tenant)(awaits=awaits))
    assert (results.load(forked).value, forked.attempt) == (status, 1)
    again = ended(other.pk)
    assert (again.status, again.attempt, again.worker_pid) == ("success", 1, forked.worker_pid)
