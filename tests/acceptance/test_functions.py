"""Functions as jobs in real workers, which have not imported their modules before they meet the jobs."""

import importlib.util

import pytest

from jobs import async_
from jobs.calls.compose import compose_by_name
from jobs.engine.submitting.submit import submit
from jobs.models import JobLog
from jobs.store import results
from tests.acceptance.following import ended
from tests.factories import QueueFactory, TenantFactory
from tests.sample import celery_tasks, tasks

pytestmark = pytest.mark.django_db(transaction=True)

HAVE_TASKS = any(importlib.util.find_spec(name) for name in ("django.tasks", "django_tasks"))


@pytest.fixture
def tenant(start_worker):
    QueueFactory(name="critical")
    start_worker()
    return TenantFactory(slug="owner")


def test_a_function_runs(tenant):
    job = ended(async_(tasks.greet, tenant=tenant)("Ines"))
    assert (job.status, results.load(job).value) == ("success", f"Hello, Ines, of {tenant}")


def test_a_function_that_the_submitting_process_knows_by_name_only_runs(tenant):
    call = {"source_type": "tests.sample.errands", "source_id": None, "source_method": "fetch"}
    job = ended(submit(compose_by_name(tenant, **call, args={"what": "bread"})).id)
    assert (job.status, results.load(job).value) == ("success", "here is bread")


def test_a_celery_task_runs_as_a_job(tenant):
    job = ended(int(celery_tasks.send_invoice.delay(tenant.pk, 7).id))
    assert (job.status, results.load(job).value["tenant"]) == ("success", tenant.pk)


@pytest.mark.skipif(not HAVE_TASKS, reason="needs Django 6, or the package django-tasks")
def test_a_task_of_django_runs_as_a_job(tenant):
    from tests.sample import later

    result = later.third_time_lucky.enqueue()
    ended(int(result.id.partition(":")[0]))
    result.refresh()
    assert (result.status, result.attempts, result.errors[0].exception_class) == ("FAILED", 1, ConnectionError)
    good = later.add.enqueue(40)
    ended(int(good.id.partition(":")[0]))
    good.refresh()
    assert good.return_value == 42


@pytest.mark.long("that Celery doubles no line; tests/integration/engine/test_log.py has what is heard")
def test_the_output_of_a_function_is_kept_once(tenant):
    job = ended(async_(tasks.chatter, tenant=tenant)())
    first, second = JobLog.objects.get(job_id=job.pk, tenant=tenant).text.splitlines()
    assert (first, second.partition(" ")[2]) == ("printed", "WARNING app: logged")
