"""Following a job that other processes run."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jobs.lifecycle import FINAL
from jobs.models import Job
from tests.factories import ThingFactory
from tests.sample.models import Run
from tests.sql import sql
from tests.waiting import wait_until

SOON = 2.0  # seconds for which others may at most feel what happens to somebody


def ended(job_id: int) -> Job:
    """The job, once it is final."""
    wait_until(lambda: Job.objects.filter(pk=job_id, status__in=FINAL).exists(), f"job {job_id} ends")
    return Job.objects.get(pk=job_id)


def running(job_id: int) -> int:
    """Wait until its body runs; the process that runs it."""
    wait_until(lambda: Run.objects.filter(job_id=job_id).exists(), f"job {job_id} runs")
    return Run.objects.filter(job_id=job_id).latest("pk").pid


def bystanders_go_through(limit: float = SOON) -> None:
    """Jobs of somebody who has nothing to do with it: one that is plain, one that is due, one that is tried again."""
    thing = ThingFactory()
    ids = [thing.async_.again(), thing.async_(delay=0.2).echo(), thing.async_.fail_first(1)]
    gone_through = Job.objects.filter(pk__in=ids, status="success")
    wait_until(lambda: gone_through.count() == len(ids), "the bystanders go through", limit * crowd())


def crowd() -> float:
    """How many times as long as alone it takes here: what wants to run now, for each core; 1 at least.

    Two seconds are promised for a machine that keeps up, and tests run beside each other.
    """
    wanting = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1), wanting / (os.cpu_count() or 1))


@contextmanager
def held_lock(key: int) -> Iterator[None]:
    """Thing.wait_for_lock(key) runs as long as this, or until `release_lock`."""
    sql("SELECT pg_advisory_lock(%s)", [key])
    try:
        yield
    finally:
        release_lock(key)


def release_lock(key: int) -> None:
    """Let Thing.wait_for_lock(key) end; without effect (and a warning of PostgreSQL's) the second time."""
    sql("SELECT pg_advisory_unlock(%s)", [key])
