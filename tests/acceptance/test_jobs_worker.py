"""`manage.py jobs worker`: a worker without Celery's command line, which stops as Celery's does."""

import os
import signal
import sys
from pathlib import Path

import pytest

from embedded.process import Process
from jobs.models import Job, Worker
from tenants.models import Change
from tests.acceptance.following import ended
from tests.factories import QueueFactory, ThingFactory
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def jobs_worker(environ, processes, tmp_path, start_worker):
    """`jobs_worker("heavy", "--concurrency", "1")`; start_worker: empties the broker."""

    def jobs_worker(*words: str) -> Process:
        command = [sys.executable, "manage.py", "jobs", "worker", *words]
        process = processes.start("jobs-worker", command, environ, log=tmp_path / "jobs-worker.log")
        wait_until(lambda: here(process) or not process.alive, "it registers")
        assert process.alive, (tmp_path / "jobs-worker.log").read_text()
        return process

    return jobs_worker


def here(process: Process) -> bool:
    return Worker.objects.filter(pid=process.pid, gone_at=None).exists()


def test_it_serves_its_pool_with_its_processes_and_lets_jobs_end(jobs_worker, tmp_path) -> None:
    QueueFactory(name="heavy", pool="heavy")
    worker = jobs_worker("heavy", "--concurrency", "1")
    assert Worker.objects.values_list("pool", "concurrency").get() == ("heavy", 1)
    thing, door = ThingFactory(), tmp_path / "open"
    held = thing.async_(queue="heavy").wait_for_file(str(door))
    wait_until(lambda: Job.objects.get(pk=held).status == "running", "it runs")
    os.kill(worker.pid, signal.SIGTERM)
    wait_until(lambda: Worker.objects.get().concurrency == 0, "it takes no more")
    assert worker.alive
    door.touch()
    assert worker.wait(30) == 0
    assert ended(held).status == "success"
    log = (tmp_path / "jobs-worker.log").read_text()
    assert "start job=" in log, "what the library logs is heard"
    assert not Change.objects.exists(), "what a job does is nobody's at the command line"


def test_what_is_unsafe_keeps_it_from_starting(environ, processes, tmp_path) -> None:
    environ["JOBS_DEDUP_WINDOW"] = "-1"
    command = [sys.executable, "manage.py", "jobs", "worker"]
    process = processes.start("jobs-worker", command, environ, log=tmp_path / "log")
    assert process.wait(60) == os.EX_CONFIG
    assert "JOBS_DEDUP_WINDOW" in (tmp_path / "log").read_text()


@pytest.mark.long("a reload, for development")
def test_it_starts_anew_when_code_changes_that_can_be_loaded(jobs_worker, environ, tmp_path) -> None:
    (tmp_path / "changing.py").write_text("")
    (tmp_path / "changing_settings.py").write_text("from tests.settings import *\nimport changing\n")
    environ |= {"PYTHONPATH": f"{tmp_path}:{Path.cwd()}", "DJANGO_SETTINGS_MODULE": "changing_settings"}
    worker = jobs_worker("--concurrency", "1", "--reload")
    first, log = Worker.objects.get(gone_at=None), tmp_path / "jobs-worker.log"
    (tmp_path / "changing.py").write_text("def half(:\n")
    wait_until(lambda: "SyntaxError" in log.read_text(), "it says what is wrong")
    assert here(worker)
    (tmp_path / "changing.py").write_text("WHOLE = True  # by now\n")
    wait_until(lambda: Worker.objects.filter(gone_at=None, pid=worker.pid).exclude(pk=first.pk).exists(), "it is new")
    assert ended(ThingFactory().async_.echo("again")).status == "success"
    os.kill(worker.pid, signal.SIGINT)
    assert worker.wait(30) == 1, "Celery's status for Ctrl-C; 0 is for SIGTERM"
    assert "Warm shutdown" in log.read_text()
