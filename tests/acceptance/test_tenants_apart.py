"""One process runs the bodies of two tenants, whose ORM code leaves the thread of the body: nothing passes over."""

import pytest

from jobs import async_
from jobs.engine.verbs.cancel import cancel
from jobs.models import Job
from jobs.store import EVERY_TENANT, results
from tests.acceptance.following import ended, running
from tests.chaos.freezing import backends
from tests.factories import TenantFactory
from tests.sample import apart
from tests.sample.models import Run
from tests.sample.ways import LEFT, WAYS
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.long("that a process ends indeed; tests/integration/engine/test_threads.py has what it judges by"),
]
STAY = {"a thread that stays", "a pool of processes that is kept"}


@pytest.fixture
def tenants():
    return TenantFactory(), TenantFactory()


def value(job_id: int):
    job = ended(job_id)
    assert job.status == "success", job.last_error
    return results.load(job).value


def test_the_threads_of_one_tenant_leave_nothing_for_another(start_worker, tenants, subtests):
    start_worker(concurrency=1)
    first, second = tenants
    for way in WAYS:
        for left in LEFT:
            with subtests.test(way, left=left):
                process = value(async_(apart.leave, tenant=first)(way=way, left=left))
                found = async_(apart.find, tenant=second)(way=way)
                assert value(found) == ["", 0, None, False]
                assert Run.objects.filter(job_id=found).count() == 1, "it was a success"
                same = way not in STAY and left != "a block"
                assert (process == Run.objects.get(job_id=found).pid) == (same and "process" not in way)


def test_the_context_around_a_body_holds_for_the_orm_that_it_awaits(start_worker, environ, tenants, subtests):
    environ["JOBS_AROUND"] = "tests.sample.apart.around"
    start_worker(concurrency=1)
    for way in ("the thread of the body", "asyncio.run", "async_to_sync"):
        for tenant in tenants:
            with subtests.test(way):
                assert value(async_(apart.who, tenant=tenant)(way=way)) == [str(tenant.pk)] * 2


def test_a_statement_ends_with_its_body(start_worker, environ, tenants, subtests):
    environ |= {"JOBS_TIMEOUT_GRACE": "0.5", "JOBS_CANCEL_GRACE": "0.5"}
    start_worker(concurrency=1)
    first, second = tenants
    for way in ("asyncio.run", "async_to_sync", "asyncio.to_thread", "a pool of threads", "a pool of processes"):
        for how, options, args in (
            ("time", {"timeout": 1.5}, {}),
            ("memory", {}, {"mib": 400}),
            ("cancel", {}, {}),
        ):
            with subtests.test(way, how=how):
                job_id = async_(apart.query, tenant=first, **options)(way=way, **args)
                running(job_id)
                if how == "cancel":
                    cancel(job_id, tenant_id=EVERY_TENANT)
                wait_until(lambda: Job.objects.get(pk=job_id).status != "running", "it ends")  # noqa: B023
                assert value(async_(apart.find, tenant=second)(way=way)) == ["", 0, None, False]
                assert backends("query LIKE 'SELECT pg_sleep%%' AND state = 'active'") == []
