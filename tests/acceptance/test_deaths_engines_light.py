"""PostgreSQL and Valkey die under a worker of a light pool, whose feeder holds the ends of all seats."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from embedded import fleet
from embedded.process import Process
from jobs import submit_many
from jobs.engine.process import runtime
from jobs.models import Worker
from tests.acceptance.work import KINDS, Work
from tests.chaos import own_engines
from tests.chaos.freezing import Held, backends, kill, stopped
from tests.chaos.own_engines import Engines
from tests.waiting import wait_until
from tests.warm import WarmProcesses

pytestmark = pytest.mark.long("an engine that stops; a lost answer and cut sessions are in test_light_feeder.py")

WAITING = 400  # short jobs in line when it dies


@pytest.fixture
def engines(tmp_path: Path, django_db_blocker) -> Iterator[Engines]:
    with django_db_blocker.unblock(), own_engines.running(tmp_path) as engines:
        yield engines


@pytest.fixture
def work(engines, tmp_path: Path) -> Iterator[Work]:
    quick = {"DJANGO_SETTINGS_MODULE": "tests.settings", "JOBS_BEAT_INTERVAL": "1", "JOBS_HAND_OVER_TIMEOUT": "1"}
    evidence = tmp_path / "evidence"
    environ = engines.environ | quick | {"CHAOS_EVIDENCE": str(evidence)}
    runtime.change(carrier=lambda claimed: None)  # our broker is another
    with WarmProcesses() as processes:

        def start(pool: str, concurrency: int) -> Process:
            command = fleet.worker(pool, concurrency, f"own-{os.getpid()}", environ)
            worker = processes.start("worker", *command, log=tmp_path / "log" / "worker.log")
            wait_until(lambda: Worker.objects.exists() or not worker.alive, "the worker registers")
            return worker

        yield Work(KINDS["light"], tmp_path, evidence, start)


def test_postgresql_restarts_under_load_and_each_attempt_ends_once(work, engines, tmp_path):
    """While a trip settles, and while the objects of other attempts are looked up."""
    worker, log = work.start_worker(), tmp_path / "log" / "worker.log"
    work.run(work.submit(20))
    calls = [thing.async_.light_work.request(n, seconds=0.01) for n, thing in enumerate(work.tenants * (WAITING // 2))]
    with Held("LOCK TABLE sample_thing IN ACCESS EXCLUSIVE MODE"), Held("LOCK TABLE attempts IN EXCLUSIVE MODE"):
        work.submit(4)
        wait_until(
            lambda: backends("wait_event_type = 'Lock' AND query LIKE '%%sample_thing%%'"), "objects are looked up"
        )
        work.ids += submit_many(calls)
        work.release()
        wait_until(lambda: backends("wait_event_type = 'Lock' AND query ~ '^-- succeed_many'"), "a trip is under way")
        engines.postgresql.restart = False
        os.kill(engines.postgresql.pid, signal.SIGQUIT)  # an immediate shutdown: no goodbye, recovery at the next start
        engines.postgresql.wait(30)
    wait_until(lambda: log.read_text().count("feeder has no answer") > 1, "the feeder has tried again")
    engines.postgresql.restart = True
    own_engines.wait_for_database()
    assert work.ended() == {("success", 1, 0)}
    assert worker.alive
    work.nothing_is_left()


def test_without_a_broker_all_seats_are_filled_and_the_worker_stops_as_it_should(work, engines):
    worker = work.start_worker()
    work.run(work.submit(1))
    with stopped(engines.valkey.pid):
        work.run(work.submit(11))
    engines.valkey.restart = False
    kill(engines.valkey.pid)
    work.run(work.submit(12))
    os.kill(worker.pid, signal.SIGTERM)
    wait_until(Worker.objects.filter(concurrency=0).exists, "it drains")
    work.release()
    assert work.ended() == {("success", 1, 0)}
    work.nothing_is_left()
    assert worker.wait(30) == 0
