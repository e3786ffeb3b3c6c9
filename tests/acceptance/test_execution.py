"""Real Celery workers run real jobs, and die."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from jobs.engine.process import runtime
from jobs.engine.submitting.submit import submit
from jobs.lifecycle import FINAL
from jobs.models import Attempt, FailedAttempt, Job, Worker
from jobs.store import results
from tests.acceptance.following import ended, held_lock, running
from tests.factories import TenantFactory, ThingFactory
from tests.sample.models import Run
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_job_runs_in_a_worker_and_leaves_its_result_times_and_stats(start_worker, thing):
    worker = start_worker()
    job = ended(thing.async_.echo("hello", times=2))
    assert job.status == "success"
    assert job.stats == {"times": 2}
    assert results.load(job).value == ["hello", "hello"]
    assert job.created_at <= job.queued_at <= job.start_time <= job.end_time
    assert Worker.objects.get(pk=job.worker).pid == worker.pid
    assert Run.objects.get().pid != worker.pid


def test_each_attempt_that_a_worker_ended_is_in_the_log_with_its_memory(start_worker, thing):
    start_worker()
    crashed = ended(thing.async_.kill_first(times=1))
    followed = [ended(job_id).pk for job_id in [thing.async_.echo(n) for n in range(5)]]
    rows = Attempt.objects.order_by("ended_at").values_list("job_id", "attempt", "outcome", "worker")
    worker = crashed.worker
    assert list(rows)[:2] == [(crashed.pk, 1, "crash", worker), (crashed.pk, 2, "success", worker)]
    assert sorted(rows)[2:] == [(job_id, 1, "success", worker) for job_id in followed]
    assert [row.peak_memory is None for row in Attempt.objects.order_by("ended_at")] == [True, *[False] * 6]
    assert all(row.waited_since <= row.queued_at for row in Attempt.objects.all())


def test_a_job_submitted_while_no_worker_lives_starts_as_soon_as_one_registers(start_worker, thing):
    job_id = thing.async_.echo()
    assert Job.objects.get(pk=job_id).status == "created"
    start_worker()
    assert ended(job_id).status == "success"


def test_an_exception_ends_the_job_as_an_error_and_is_kept(start_worker, thing):
    start_worker()
    job = ended(thing.async_.refuse("the disk is full"))
    assert (job.status, job.last_error) == ("error", "ValueError: the disk is full")
    attempt = FailedAttempt.objects.get(job=job)
    assert attempt.error_class == "ValueError"
    assert "in refuse" in attempt.traceback
    assert attempt.start_time == job.start_time


def test_a_process_killed_under_its_job_is_noticed_and_the_job_runs_again(start_worker, thing):
    start_worker()
    job = ended(thing.async_.kill_first(times=1))
    assert (job.status, job.attempt, job.crashes) == ("success", 2, 1)
    assert list(Run.objects.order_by("attempt").values_list("attempt", flat=True)) == [1, 2]
    assert "SIGKILL" in FailedAttempt.objects.get(job=job).error


def test_a_job_that_kills_its_process_again_and_again_is_dead_in_the_end(start_worker, thing, settings):
    start_worker()
    job = ended(thing.async_.kill_first(times=99))
    assert (job.status, job.crashes) == ("dead", settings.JOBS_MAX_CRASHES)
    assert FailedAttempt.objects.filter(job=job).count() == settings.JOBS_MAX_CRASHES
    assert ended(thing.async_.echo()).status == "success"


def test_a_job_that_runs_into_its_time_limit_ends_as_such(start_worker, thing):
    start_worker()
    job = ended(thing.async_(timeout=1.5).spin())
    assert (job.status, job.last_error) == ("error", "TimeoutError: timed out after 1.5 s")


def test_a_job_that_ignores_its_time_limit_is_killed(start_worker, thing, environ):
    environ["JOBS_TIMEOUT_GRACE"] = "0.5"
    start_worker(concurrency=1)
    job = ended(thing.async_(timeout=1.5).spin(stubborn=True))
    assert (job.status, job.crashes) == ("error", 0)
    assert "was killed" in job.last_error
    assert ended(thing.async_.echo()).status == "success"


def test_a_running_job_shows_its_progress(start_worker, thing):
    start_worker()
    with held_lock(8):
        job_id = thing.async_.wait_for_lock(8)
        wait_until(lambda: Job.objects.get(pk=job_id).progress == 0.5, "the progress is there")
        job = Job.objects.get(pk=job_id)
        assert (job.status, job.progress_note) == ("running", "waiting")
    assert ended(job_id).progress == 1


def test_ten_identical_submissions_in_parallel_give_one_job(start_worker, thing):
    start_worker()
    request = thing.async_.wait_for_lock.request(10)  # or the first job may have ended before the last is submitted

    def press(_: int) -> int:
        try:
            return submit(request).id
        finally:
            connection.close()

    with held_lock(10), ThreadPoolExecutor(10) as presses:
        ids = set(presses.map(press, range(10)))
    assert len(ids) == 1
    assert ended(ids.pop()).status == "success"
    assert Run.objects.count() == 1


def test_a_message_lost_by_the_broker_is_sent_again(start_worker, thing, register):
    register(concurrency=1)
    runtime.change(carrier=lambda claimed: None)
    job_id = thing.async_.echo()
    assert Job.objects.get(pk=job_id).status == "queued"
    start_worker()
    job = ended(job_id)
    assert (job.status, job.attempt, job.crashes) == ("success", 1, 0)
    assert Run.objects.count() == 1


def test_a_job_due_later_starts_at_its_moment(start_worker, thing):
    start_worker()
    job_id = thing.async_(delay=1).echo()
    assert Job.objects.get(pk=job_id).status == "scheduled"
    job = ended(job_id)
    assert job.status == "success"
    assert (job.start_time - job.created_at).total_seconds() >= 1


def test_a_worker_stopped_in_good_order_ends_its_job_first(start_worker, thing):
    worker = start_worker(concurrency=1)
    with held_lock(9):
        job_id = thing.async_.wait_for_lock(9)
        running(job_id)
        os.kill(worker.pid, signal.SIGTERM)
        wait_until(lambda: Worker.objects.get(pid=worker.pid).concurrency == 0, "it drains")
        later = thing.async_.echo()
        assert Job.objects.get(pk=later).status == "created"
    assert ended(job_id).status == "success"
    worker.wait(30)
    assert Worker.objects.get(pid=worker.pid).gone_at is not None


def test_every_tenant_keeps_to_its_slots_under_a_burst(start_worker):
    start_worker(concurrency=4)
    tenants = [TenantFactory(queue__num_slots=n) for n in (1, 2, 3)]
    ids = [ThingFactory(tenant=tenant).async_.echo(n) for tenant in tenants for n in range(30)]
    most = {tenant.pk: 0 for tenant in tenants}
    limits = {tenant.pk: tenant.jobs_queue.num_slots for tenant in tenants}

    def all_ended() -> bool:
        for tenant, before in most.items():
            most[tenant] = max(before, Job.objects.filter(tenant_id=tenant, slot__isnull=False).count())
        return not Job.objects.exclude(status__in=FINAL).exists()

    wait_until(all_ended, "all jobs end")
    assert all(most[tenant] <= limits[tenant] for tenant in most), (most, limits)
    assert Job.objects.filter(pk__in=ids, status="success").count() == 90
    assert Run.objects.count() == 90
