"""Jobs of a light pool in a project's own tests: they run in the test's process, as those of any pool."""

import pytest
from django.core.exceptions import SynchronousOnlyOperation
from django.db import transaction

from jobs import current_job, in_thread
from jobs.calls.refusals import InvalidRequest
from jobs.contrib.testing import drain, run
from jobs.models import Pool
from tests.factories import QueueFactory, TenantFactory, ThingFactory
from tests.sample.models import Run

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture(autouse=True)
def light(database):
    Pool.objects.create(name="mail", kind="light", seats=200)
    QueueFactory(name="mail", pool="mail")


def test_a_drain_runs_the_jobs_of_a_light_pool_for_each_tenant(thing, body):
    async def count(self):
        run = current_job()
        await Run.objects.acreate(job_id=run.id, attempt=run.attempt, pid=0)
        return [await Run.objects.filter(job_id=run.id).acount(), run.tenant.pk]

    body(count, queue="mail")
    stranger = ThingFactory(tenant=TenantFactory(queue__num_slots=1))
    numbers = [one.async_.echo() for one in (thing, stranger)]
    made = {attempt.job_id: (attempt.status, attempt.value) for attempt in drain()}
    assert made == {
        numbers[0]: ("success", [1, thing.tenant_id]),
        numbers[1]: ("success", [1, stranger.tenant_id]),
    }
    assert run(thing.async_.echo) == [1, thing.tenant_id]


def test_a_body_without_async_is_refused_as_it_would_be_at_work(thing, body):
    body(lambda self: None, queue="mail")
    with pytest.raises(InvalidRequest, match="which runs only `async def`"):
        thing.async_.echo()


def test_a_body_that_uses_the_database_without_await_fails_as_it_would_at_work(thing, body):
    async def count(self):
        return Run.objects.count()

    body(count, queue="mail")
    thing.async_.echo()
    with pytest.raises(SynchronousOnlyOperation):
        drain()


def test_a_call_in_a_thread_is_one_transaction(thing, body):
    def write(job_id):
        with transaction.atomic():
            Run.objects.create(job_id=job_id, attempt=0, pid=0)
            raise ValueError("no")

    async def fail(self):
        await in_thread(write, current_job().id)

    body(fail, queue="mail")
    thing.async_.echo()
    with pytest.raises(ValueError, match="no"):
        drain()
    assert not Run.objects.exists()
