"""`manage.py jobs worker`: a worker without Celery's command line, which stops as Celery's does."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from embedded.process import Process
from jobs.calls.request import JobRequest
from jobs.engine.submitting.submit import submit
from jobs.models import Job, Worker
from jobs.store import results
from tenants.models import Change
from tests.acceptance.following import ended
from tests.factories import QueueFactory, TenantFactory, ThingFactory
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


def test_a_worker_serves_its_pool_and_lets_running_jobs_end(jobs_worker, tmp_path) -> None:
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


def test_an_unsafe_setting_keeps_the_worker_from_starting(environ, processes, tmp_path) -> None:
    environ["JOBS_DEDUP_WINDOW"] = "-1"
    command = [sys.executable, "manage.py", "jobs", "worker"]
    process = processes.start("jobs-worker", command, environ, log=tmp_path / "log")
    assert process.wait(60) == os.EX_CONFIG
    assert "JOBS_DEDUP_WINDOW" in (tmp_path / "log").read_text()


@pytest.mark.long("a reload, for development")
def test_a_worker_starts_anew_when_loadable_code_changes(jobs_worker, environ, tmp_path) -> None:
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


@pytest.mark.long("a reload, for development")
def test_a_broken_module_of_tasks_is_watched_and_keeps_the_worker_as_it_is(jobs_worker, environ, tmp_path) -> None:
    app, log, tenant = tmp_path / "edited", tmp_path / "jobs-worker.log", TenantFactory()
    app.mkdir()
    (app / "__init__.py").touch()
    tasks = app / "tasks.py"
    tasks.write_text("def half(:\n")
    code = "from jobs import job\n\n@job\ndef version():\n    return {}\n"
    settings = "from tests.settings import *\nINSTALLED_APPS = [*INSTALLED_APPS, 'edited']\n"
    (tmp_path / "edited_settings.py").write_text(settings)
    environ |= {"PYTHONPATH": f"{tmp_path}:{Path.cwd()}", "DJANGO_SETTINGS_MODULE": "edited_settings"}
    worker = jobs_worker("--concurrency", "1", "--reload")

    def save(text: str, seconds: int) -> None:
        tasks.write_text(text)
        os.utime(tasks, (time.time() + seconds, time.time() + seconds))  # no two saves at one time

    def version() -> object:
        whose = {"tenant_id": tenant.pk, "source_id": None, "args": {}}
        request = JobRequest(source_type="edited.tasks", source_method="version", **whose)
        return results.load(ended(submit(request).id)).value

    first = Worker.objects.get(gone_at=None)
    save(code.format(1), 10)
    wait_until(lambda: Worker.objects.filter(gone_at=None, pid=worker.pid).exclude(pk=first.pk).exists(), "mended")
    second = Worker.objects.get(gone_at=None)
    assert version() == 1
    said = log.read_text().count("SyntaxError: ")
    save("def half(:\n", 20)
    wait_until(lambda: log.read_text().count("SyntaxError: ") > said, "it says what is wrong")
    assert Worker.objects.get(gone_at=None) == second
    assert version() == 1
    save(code.format(2), 30)
    wait_until(lambda: Worker.objects.filter(gone_at=None, pid=worker.pid).exclude(pk=second.pk).exists(), "new code")
    assert version() == 2
