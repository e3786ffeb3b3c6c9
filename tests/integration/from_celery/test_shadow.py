"""Watching Celery tasks: a real Celery worker, on the tests' broker, leaves a line for each task that ended."""

import json
import os
import subprocess
import sys
import uuid
from shutil import copy

import pytest
from celery import Celery, current_app, signals
from celery.contrib.testing.worker import start_worker
from django.conf import settings

from embedded import REPOSITORY
from tests.waiting import wait_until
from tools.celery_replay.__main__ import main
from tools.celery_replay.record import record
from tools.celery_replay.replay import read


@pytest.fixture
def app(tmp_path):
    """A Celery app whose tasks are recorded in `record`; its signals and the current app are as before afterwards."""
    watched = (signals.before_task_publish, signals.task_prerun, signals.task_postrun)
    before = [list(signal.receivers or ()) for signal in watched]
    ours = current_app._get_current_object()
    app = Celery(f"shadowed-{uuid.uuid4()}", broker=settings.CELERY_BROKER_URL, set_as_current=False)
    app.conf.task_default_queue = f"shadowed-{uuid.uuid4()}"
    record(str(tmp_path / "record"), lambda task, args, kwargs: f"tenant-{kwargs['account']}")
    yield app
    for signal, receivers in zip(watched, before, strict=True):
        signal.receivers = receivers
    ours.set_current()  # `start_worker` has put its own app there
    ours.set_default()
    app.close()


def test_each_task_that_ended_is_recorded(app, tmp_path):
    ended = []

    @app.task(name="bill", bind=True, max_retries=1)
    def bill(self, *, account=None, fail=False):
        if fail and not self.request.retries:
            raise self.retry(countdown=0.2)
        ended.append(account)

    with start_worker(app, pool="solo", perform_ping_check=False, shutdown_timeout=30):
        bill.delay(account=1)
        bill.delay(account=2, fail=True)
        bill.delay()
        wait_until(lambda: len(ended) == 3, "all tasks ended")
    lines = [json.loads(line) for line in (tmp_path / "record").read_text().splitlines()]
    assert sorted((line["task"], line["tenant"]) for line in lines) == [
        ("bill", "tenant-1"),
        ("bill", "tenant-2"),
        ("bill", "tenant-2"),
        ("bill", "unknown"),
    ]
    assert all(line["ready"] <= line["started"] <= line["ended"] for line in lines)
    assert {line["queue"] for line in lines} == {app.conf.task_default_queue}
    assert len(list(read((tmp_path / "record").read_text().splitlines()))) == 4, "the replay can read them"


WHERE_ITS_APP_IS_MADE = """
from celery import Celery
from record import record

app = Celery("bare", broker="memory://")
record("tasks.jsonl", lambda task, args, kwargs: kwargs["account"])
"""


def test_a_project_without_django_is_watched_and_replayed(tmp_path):
    line = {"task": "t", "tenant": "acme", "queue": "q", "ready": 0, "started": 1, "ended": 2}
    (tmp_path / "tasks.jsonl").write_text(json.dumps(line))
    copy(REPOSITORY / "tools/celery_replay/record.py", tmp_path)
    for words, path in (
        (["-c", WHERE_ITS_APP_IS_MADE], tmp_path),
        (["-m", "tools.celery_replay", "tasks.jsonl"], REPOSITORY),
    ):
        environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(path)}
        printed = subprocess.check_output([sys.executable, *words], cwd=tmp_path, env=environ, text=True)
    assert "1 tasks, replayed with 1 processes." in printed


class TestReplay:
    @pytest.fixture
    def told(self, capsys):
        """What the replay prints."""

        def told(*words: object) -> str:
            main([str(word) for word in words])
            return capsys.readouterr().out

        return told

    @pytest.fixture
    def file(self, tmp_path):
        line = '{{"task": "t", "tenant": "{}", "queue": "q", "ready": {}, "started": {}, "ended": {}}}\n'
        tasks = [("burst", 0, n, n + 1) for n in range(10)] + [("small", 1, 10, 11)]
        path = tmp_path / "record"
        path.write_text("".join(line.format(*task) for task in tasks))
        return path

    def test_the_replay_shows_the_waits_before_and_after(self, file, told):
        shown = json.loads(told(file, "--json"))
        small = next(one for one in shown["tenants"] if one["tenant"] == "small")
        assert (small["was"]["longest"], small["would_be"]["longest"]) == (9, 0)
        assert shown["processes"] == 1

    def test_slots_and_processes_can_be_given(self, file, told):
        shown = json.loads(told(file, "--json", "--processes", "20", "--slots", "5", "--tenant", "burst=2"))
        assert {one["tenant"]: one["would_be"]["longest"] for one in shown["tenants"]} == {"burst": 4, "small": 0}

    def test_an_unreadable_file_is_refused_in_one_line(self, file, tmp_path, capsys):
        empty, nonsense = tmp_path / "empty", tmp_path / "nonsense"
        empty.touch()
        nonsense.write_text("nonsense\n")
        for words, why in (
            ((tmp_path / "missing",), "No such file"),
            ((empty,), "no task is recorded there"),
            ((nonsense,), "line 1 is no record of a task"),
            ((file, "--tenant", "3"), "as in acme=3"),
            ((file, "--processes", "0"), "from 1 on"),
        ):
            with pytest.raises(SystemExit):
                main([str(word) for word in words])
            assert why in capsys.readouterr().err.splitlines()[-1]
