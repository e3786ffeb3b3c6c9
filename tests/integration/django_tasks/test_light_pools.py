"""Async tasks run in the seats of a light pool; one that is not async is refused for its queues."""

import pytest

from jobs.contrib.django_tasks import interface
from jobs.contrib.django_tasks.interface import InvalidTask
from jobs.models import Job, Pool
from tests.factories import TenantFactory
from tests.integration.processes.light_seats import SeatsHere
from tests.sample import later

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def here(register):
    Pool.objects.create(name="default", kind="light", seats=50)
    here = SeatsHere(register())
    yield here
    here.close()


def test_an_async_task_runs_in_a_seat_and_is_announced_with_its_context(here, sent, tenant):
    TenantFactory(slug="stranger")
    told: list[tuple[str, str, int]] = []

    def tell(sender, task_result, **_):
        told.append((task_result.id, task_result.status.name, Job.objects.count()))  # it may ask the database

    interface.task_started.connect(tell)
    interface.task_finished.connect(tell)
    try:
        results = [later.noop_task_async.enqueue(1), later.failing_task_async.enqueue()]
        good, bad = Job.objects.order_by("pk")
        here.begin(good.pk, bad.pk)
        outcomes = [here.outcome(job.pk) for job in (good, bad)]
    finally:
        interface.task_started.disconnect(tell)
        interface.task_finished.disconnect(tell)
    assert {good.tenant, bad.tenant} == {tenant}
    assert (outcomes[0].value, outcomes[0].error, repr(outcomes[1].error)) == (
        None,
        None,
        "ValueError('This task failed due to ValueError')",
    )
    assert sorted(told) == sorted(
        [
            (results[0].id, "RUNNING", 2),
            (results[0].id, "SUCCESSFUL", 2),
            (results[1].id, "RUNNING", 2),
            (results[1].id, "FAILED", 2),
        ]
    )


def test_a_task_that_is_not_async_is_refused_with_the_remedy(here):
    with pytest.raises(InvalidTask, match="which runs only `async def`"):
        later.noop_task.enqueue()
    assert not Job.objects.exists()
