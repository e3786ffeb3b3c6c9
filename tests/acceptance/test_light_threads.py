"""A light worker whose pool says `threads`: bodies without `async` beside coroutines, by a real Celery worker."""

import pytest

from jobs import async_
from jobs.engine.verbs.cancel import cancel
from jobs.models import Job, Pool, Queue
from jobs.store import results
from tests.acceptance.following import ended
from tests.factories import TenantFactory
from tests.sample import light
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def threads(start_worker) -> object:
    for queue in (light.QUEUE, light.IN_THREADS):
        Queue.objects.create(name=queue, pool="slow")
    Pool.objects.create(name="slow", kind="light", seats=50, threads=True)
    return start_worker("slow", 1)


def running(*job_ids: int) -> None:
    wait_until(lambda: Job.objects.filter(pk__in=job_ids, status="running").count() == len(job_ids), "they run")


def test_functions_that_wait_share_a_process_with_coroutines_and_keep_to_their_slots(threads):
    tenant, stranger = (TenantFactory(queue__num_slots=slots) for slots in (20, 3))
    naps = {who: [async_(light.nap, tenant=who)(seconds=0.5) for _ in range(6)] for who in (tenant, stranger)}
    awaits = async_(light.who, tenant=tenant)()
    running(*naps[tenant])  # all at once
    assert Job.objects.filter(tenant=stranger, slot__isnull=False).count() <= 3
    process = results.load(ended(awaits)).value["pid"]
    for who, ids in naps.items():
        values = [results.load(ended(job_id)).value for job_id in ids]
        assert {(value["pid"], value["tenant"]) for value in values} == {(process, str(who))}


def test_at_its_limit_and_asked_to_stop_a_function_ends_between_two_waits(threads):
    tenant = TenantFactory(queue__num_slots=5)
    late = ended(async_(light.nap, tenant=tenant, timeout=0.3)(seconds=0.01, times=6000))
    assert (late.status, late.last_error) == ("error", "TimeoutError: timed out after 0.3 s")
    stopped, other = (async_(light.nap, tenant=tenant)(seconds=0.01, times=times) for times in (6000, 100))
    running(stopped, other)
    assert cancel(stopped, tenant_id=tenant.pk) == "requested"
    assert ended(stopped).status == "cancelled"
    assert (ended(other).status, ended(other).attempt) == ("success", 1)


def test_a_function_that_waits_on_ends_its_process_when_the_others_have_ended(threads):
    tenant, stranger = TenantFactory(), TenantFactory()
    late = async_(light.nap, tenant=tenant, timeout=0.2)(seconds=60)
    beside = async_(light.nap, tenant=stranger)(seconds=3)
    running(late, beside)
    assert (ended(late).status, ended(late).last_error) == (
        "error",
        "TimeoutError: timed out after 0.2 s and was killed",
    )
    assert (ended(beside).status, ended(beside).attempt, ended(beside).crashes) == ("success", 1, 0)
    again = ended(async_(light.nap, tenant=stranger)(seconds=0))
    assert results.load(again).value["pid"] != ended(late).worker_pid
