"""Jobs with checkpoints: their workers are replaced one after the other or killed, and a tenant loses slots."""

import os
import signal
import time

import pytest

from jobs import async_
from jobs.models import FailedAttempt, Job
from jobs.store import results
from tenants.models import TenantQueue
from tests.acceptance.following import crowd, ended
from tests.sample import checkpoints
from tests.sample.models import Run
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.long(
        "that real workers of both kinds tell their bodies; test_checkpoints and test_wanted_back have the rest"
    ),
]
SOON = 5.0  # seconds from the signal until all jobs go on elsewhere
JOBS = 3  # one for each process of the ordinary workers


def of_the_work(work, tmp_path) -> list[int]:
    function = checkpoints.work if work.kind.seats == 1 else checkpoints.work_light
    return [async_(function, tenant=work.tenants[n % 2].tenant)(until=str(tmp_path / "go")) for n in range(JOBS)]


def go_on(number: int, seconds: float, **which: object) -> None:
    """So many of them do a unit from now on."""
    last = Run.objects.latest("pk").pk if Run.objects.exists() else 0
    units = Run.objects.filter(pk__gt=last, **which)
    wait_until(lambda: units.values("job_id").distinct().count() >= number, f"{number} go on", seconds)


def test_a_deploy_under_load_loses_no_unit_of_work_and_repeats_none(work, tmp_path):
    workers = [work.start_worker(processes=1) for _ in range(JOBS)]
    ids = of_the_work(work, tmp_path)
    go_on(JOBS, 30)
    work.start_worker(processes=1)
    for left, old in zip((3, 2, 1), workers, strict=True):
        told = time.monotonic()
        os.kill(old.pid, signal.SIGTERM)
        assert old.wait(SOON * crowd()) == 0
        go_on(left if work.kind.seats == 1 else JOBS, SOON * crowd())
        assert time.monotonic() - told < SOON * crowd()
    (tmp_path / "go").touch()
    for job_id in ids:
        job = ended(job_id)
        assert (job.status, job.crashes, job.retries) == ("success", 0, 0)
        assert results.load(job).value == Run.objects.filter(job_id=job_id).count()
    assert not FailedAttempt.objects.exists()
    assert sum(Job.objects.values_list("handed_back", flat=True)) >= JOBS
    assert set(Job.objects.exclude(handed_back=0).values_list("handed_back_why", flat=True)) == {"drain"}


@pytest.mark.parametrize("work", ["ordinary"], indirect=True)
def test_a_killed_process_goes_on_from_its_cursor_and_a_tenant_gives_back_what_it_may_not_hold(work, tmp_path):
    worker = work.start_worker(processes=JOBS)
    ids = of_the_work(work, tmp_path)
    go_on(JOBS, 30)
    wait_until(lambda: not Job.objects.filter(cursor=None).exists(), "each has stored a cursor")
    owner = work.tenants[0].tenant
    of_owner = [job_id for job_id in ids if Job.objects.get(pk=job_id).tenant_id == owner.pk]
    last = Job.objects.filter(pk__in=of_owner).latest("start_time")  # three processes start in any order
    TenantQueue.objects.filter(tenant=owner).update(num_slots=1)
    running = Job.objects.filter(tenant=owner, slot__isnull=False)
    wait_until(lambda: running.count() == 1, "it holds one", SOON * crowd())
    go_on(1, SOON * crowd(), job_id=ids[1])  # the stranger's
    back = Job.objects.get(pk__in=of_owner, slot__isnull=True)
    assert (back.status, back.handed_back_why, back.pk) == ("created", "slots", last.pk)
    TenantQueue.objects.filter(tenant=owner).update(num_slots=5)

    [killed] = Job.objects.filter(tenant=owner, status="running")[:1]
    done = Run.objects.filter(job_id=killed.pk).count()
    os.kill(killed.worker_pid, signal.SIGKILL)
    wait_until(lambda: Run.objects.filter(job_id=killed.pk, attempt__gt=killed.attempt).exists(), "it runs again")
    (tmp_path / "go").touch()
    units = results.load(ended(killed.pk)).value
    assert 1 <= units - Run.objects.filter(job_id=killed.pk, attempt__gt=killed.attempt).count() <= done
    assert worker.alive
