"""Coroutines as bodies in real workers of an ordinary pool: one runs at a time, in a process of its own."""

import pytest

from jobs import async_
from jobs.engine.verbs.cancel import cancel
from jobs.models import Job, JobMemory
from jobs.store import results
from tests.acceptance.following import ended, running
from tests.factories import TenantFactory
from tests.sample import waiting
from tests.sample.models import Run
from tests.sample.ways import NOTHING

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def owner():
    return TenantFactory(slug="owner")


@pytest.fixture
def stranger():
    return TenantFactory(slug="stranger")


def value(job_id: int):
    job = ended(job_id)
    assert job.status == "success", job.last_error
    return results.load(job).value


def test_a_coroutine_has_what_a_function_has_for_its_own_tenant(start_worker, owner, stranger):
    start_worker()
    for tenant in (owner, stranger):
        job_id = async_(waiting.report, tenant=tenant)()
        [pk, runs, greeted] = value(job_id)
        assert (pk, runs) == (tenant.pk, 1)
        assert value(greeted) == f"Hello, Ines, of {tenant}"
        assert Job.objects.get(pk=job_id).progress_note == "half"
    assert JobMemory.objects.count() == 2


def test_the_time_limit_cancels_a_coroutine_and_its_process_goes_on(start_worker, owner, stranger):
    start_worker(concurrency=1)
    late = ended(async_(waiting.wait, tenant=owner, timeout=1.0)())
    assert (late.status, late.last_error) == ("error", "TimeoutError: timed out after 1 s")
    [first, cleaned_up] = Run.objects.filter(job_id=late.pk)
    assert value(async_(waiting.wait, tenant=stranger)(seconds=0)) == first.pid == cleaned_up.pid


def test_a_coroutine_that_blocks_its_loop_is_interrupted_and_its_process_goes_on(start_worker, owner, stranger):
    start_worker(concurrency=1)
    late = ended(async_(waiting.block, tenant=owner, timeout=1.0)())
    assert (late.status, late.last_error) == ("error", "TimeoutError: timed out after 1 s")
    assert value(async_(waiting.wait, tenant=stranger)(seconds=0)) == Run.objects.get(job_id=late.pk).pid


def test_a_coroutine_that_ignores_its_limit_or_a_cancel_is_killed(start_worker, environ, owner, stranger):
    environ |= {"JOBS_TIMEOUT_GRACE": "0.5", "JOBS_CANCEL_GRACE": "0.5"}
    start_worker(concurrency=1)
    late = ended(async_(waiting.wait, tenant=owner, timeout=1.0)(stubborn=True))
    assert (late.status, late.crashes) == ("error", 0)
    assert "was killed" in late.last_error
    asked = async_(waiting.wait, tenant=owner)()
    killed = running(asked)
    assert cancel(asked, tenant_id=stranger.pk) != "requested"
    cancel(asked, tenant_id=owner.pk)
    assert ended(asked).status == "cancelled"
    assert value(async_(waiting.wait, tenant=stranger)(seconds=0)) != killed


@pytest.mark.parametrize("left", ["no transaction", "an open transaction", "a failed transaction"])
def test_the_state_that_a_coroutine_leaves_does_not_reach_the_next_tenant(start_worker, owner, stranger, left):
    start_worker(concurrency=1)
    process = value(async_(waiting.leave, tenant=owner)(left=left))
    found = async_(waiting.find, tenant=stranger)()
    assert value(found) == [*NOTHING, 1, [True]]
    assert Run.objects.get(job_id=found).pid == process


def test_a_task_that_nothing_ends_ends_the_process_and_the_outcome_is_kept(start_worker, owner, stranger):
    start_worker(concurrency=1)
    process = value(async_(waiting.stay, tenant=owner)())
    found = async_(waiting.find, tenant=stranger)()
    assert value(found) == [*NOTHING, 1, []]
    assert Run.objects.get(job_id=found).pid != process
