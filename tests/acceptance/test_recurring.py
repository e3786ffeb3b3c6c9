"""Recurring jobs with real workers: one job for each due time, though the worker that leads is killed (I10)."""

import os
import signal
from itertools import pairwise

import pytest
from django.db.models import Count

from jobs.models import Job, ScheduleRun, Worker
from tests.acceptance.following import bystanders_go_through
from tests.factories import TenantFactory
from tests.waiting import wait_until

pytestmark = pytest.mark.long(
    "schedules while workers die; each step is in tests/integration/engine/test_schedules*.py"
)


def done(count: int) -> bool:
    return Job.objects.filter(source_method="tick", status="success").count() >= count


def test_each_due_time_is_one_job_while_workers_come_and_are_killed(start_worker):
    TenantFactory(slug="opted-in", queue__num_slots=4)
    start_worker(concurrency=1)
    wait_until(lambda: done(2), "the first runs")
    [first] = Worker.objects.filter(gone_at=None)
    start_worker(concurrency=1)
    wait_until(lambda: Worker.objects.filter(gone_at=None).count() == 2, "there is another clock")
    os.kill(first.pid, signal.SIGKILL)
    before = Job.objects.filter(source_method="tick").count()
    wait_until(lambda: done(before + 4), "it goes on with the other")
    runs = list(ScheduleRun.objects.order_by("due"))
    jobs = Job.objects.filter(source_method="tick")
    assert {run.job_id for run in runs} >= set(jobs.values_list("pk", flat=True)), "each belongs to a due time"
    assert not ScheduleRun.objects.values("job_id").annotate(n=Count("*")).filter(n__gt=1).exists()
    gaps = {round((later.due - earlier.due).total_seconds(), 3) for earlier, later in pairwise(runs)}
    assert gaps == {1.0}, "and none was left out"


def test_while_the_schedules_are_blocked_the_jobs_of_others_go_through(start_worker, onlooker):
    TenantFactory(slug="opted-in")
    start_worker(concurrency=2)
    wait_until(lambda: done(1), "the first run")
    with onlooker.transaction():
        onlooker.execute("LOCK TABLE schedules, schedule_runs IN ACCESS EXCLUSIVE MODE")
        for _ in range(3):
            bystanders_go_through()
    before = Job.objects.filter(source_method="tick").count()
    wait_until(lambda: done(before + 1), "it goes on")
