"""What an attempt costs its lane: what it took of the processes or tokens that others wait for, however it ended."""

import os
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import store
from jobs.allocation.order import SLICE
from jobs.lifecycle import Status
from jobs.models import Job, Lane, QueueTurn
from jobs.store import EVERY_TENANT, Failure, Holder
from tests.clock import call_at
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.verbs import pause

pytestmark = pytest.mark.django_db(transaction=True)

NOW = timezone.now()
REFUSED = Failure("ValueError", "no")
LOST = 1.1  # seconds, as in fold.sql


def ago(seconds: float) -> object:
    return NOW - timedelta(seconds=seconds)


@pytest.fixture
def tenant():
    """One whose lane is known: a job waits in it, with no worker to run it."""
    tenant = TenantFactory()
    make_job(tenant)
    return tenant


def charged(tenant) -> float:
    call_at(NOW, store.claim)
    return Lane.objects.get(tenant_id=tenant.pk).virtual_time


class TestAProcess:
    def test_is_paid_for_until_the_hard_time_limit_and_no_jump_of_the_clock_costs_more(self, tenant, settings):
        settings.JOBS_TIMEOUT_GRACE = 2.0
        over = make_job(tenant, Status.RUNNING, timeout=1.0, start_time=ago(2.5))
        assert call_at(NOW, store.succeed, over.pk, 1, {}, None)
        assert charged(tenant) == pytest.approx(2.5)
        jumped = make_job(tenant, Status.RUNNING, timeout=1.0, start_time=ago(1000))
        assert call_at(NOW, store.succeed, jumped.pk, 1, {}, None)
        assert charged(tenant) == pytest.approx(2.5 + 1 + 2 + SLICE)

    def test_counts_as_long_while_it_runs(self, tenant, register, settings):
        settings.JOBS_TIMEOUT_GRACE = 2.0
        make_job(tenant, Status.RUNNING, timeout=1.0, start_time=ago(3))
        other = TenantFactory()
        waits = make_job(other)
        ended = make_job(other, Status.RUNNING, start_time=ago(2.5))
        assert call_at(NOW, store.succeed, ended.pk, 1, {}, None)
        register(concurrency=2)  # one of the processes is at the job
        assert [one.id for one in call_at(NOW, store.claim)] == [waits.pk]

    def test_a_process_that_dies_is_paid_for_until_another_is_there(self, tenant):
        job = make_job(tenant, Status.RUNNING, start_time=ago(0.5))
        assert call_at(NOW, store.take_back, job.pk, 1, REFUSED, 3)
        assert charged(tenant) == pytest.approx(0.5 + LOST)

    def test_a_process_that_ends_with_a_settled_attempt_is_paid_for_too(self, tenant):
        worker = uuid.uuid4()
        job = make_job(tenant, Status.RUNNING, start_time=ago(0.5), worker=worker, worker_pid=os.getpid())
        assert call_at(NOW, store.fail, job.pk, 1, REFUSED, by=Holder(worker, os.getpid(), lost=True))
        assert charged(tenant) == pytest.approx(0.5 + LOST)

    def test_a_process_that_died_before_the_start_costs_nothing(self, tenant):
        job = make_job(tenant, Status.QUEUED, queued_at=ago(0.5))
        assert call_at(NOW, store.take_back, job.pk, 1, REFUSED, 3)
        assert charged(tenant) == pytest.approx(0.001)

    @pytest.mark.parametrize(("queued_for", "seconds"), [(0.5, 0.5), (60, 1)])
    def test_kept_by_a_job_that_is_cancelled_on_its_way_is_paid_for_if_no_broker_is_to_blame(
        self, queued_for, seconds, tenant
    ):
        job = make_job(tenant, Status.QUEUED, queued_at=ago(queued_for))
        assert call_at(NOW, store.cancel, [job.pk], tenant_id=tenant.pk)
        assert charged(tenant) == pytest.approx(seconds)

    def test_was_none_of_a_waiting_job(self, tenant):
        assert call_at(NOW, store.cancel, [make_job(tenant).pk], tenant_id=tenant.pk)
        assert charged(tenant) == 0


class TestAToken:
    @pytest.fixture
    def claimed(self, register):
        """Four processes, and one token of many in ten seconds: it comes again when they could have worked 40 s."""

        def claimed(**limits) -> Job:
            register(concurrency=4)
            queue = QueueFactory(name="limited", rate_window=10, **limits)
            for _ in range(2):
                make_job(TenantFactory(), queue=queue)
            (one,) = call_at(NOW, store.claim)[:1]
            return Job.objects.get(pk=one.id)

        return claimed

    def cancel(self, job: Job) -> tuple[float, float]:
        """What that costs its lane and its queue."""
        assert call_at(NOW, store.cancel, [job.pk], tenant_id=EVERY_TENANT)
        return charged(job.tenant), QueueTurn.objects.get(queue_id=job.queue_id).virtual_time

    def test_costs_its_lane_what_the_processes_can_work_until_it_comes_again_and_its_queue_nothing(self, claimed):
        assert self.cancel(claimed(rate_limit=1)) == (pytest.approx(40), pytest.approx(0.001))

    def test_a_token_of_a_queue_with_fewer_processes_costs_less(self, claimed):
        assert self.cancel(claimed(rate_limit=1, concurrency=2))[0] == pytest.approx(20)

    def test_costs_nothing_while_most_are_left(self, claimed):
        assert self.cancel(claimed(rate_limit=100))[0] == pytest.approx(0.001)

    def test_is_spent_also_by_a_job_that_is_put_off(self, claimed):
        job = claimed(rate_limit=1)
        pause(job)
        assert store.put_off(job.pk, job.attempt)
        assert charged(job.tenant) == pytest.approx(40)
