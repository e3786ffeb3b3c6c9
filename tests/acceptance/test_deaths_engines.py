"""PostgreSQL and Valkey die, forget, or hang up, under a running job."""

import os
import signal
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import redis
from django.conf import settings

from embedded import engines as embedded_engines
from embedded import fleet
from embedded.process import Process
from jobs.engine.process import runtime
from jobs.engine.verbs.cancel import cancel
from jobs.models import Job, Worker
from jobs.store import EVERY_TENANT
from tests.acceptance.following import SOON, ended, running
from tests.chaos import own_engines
from tests.chaos.freezing import Held, arrived, backends, cut
from tests.chaos.own_engines import Engines
from tests.factories import TenantFactory, ThingFactory
from tests.sample.models import Run
from tests.waiting import wait_until
from tests.warm import WarmProcesses

OURS = "application_name LIKE 'jobs:%%'"
LONG = pytest.mark.long("an engine that stops or stands still; lost messages and cut connections stay")


@pytest.fixture
def engines(tmp_path: Path, django_db_blocker) -> Iterator[Engines]:
    with django_db_blocker.unblock(), own_engines.running(tmp_path) as engines:
        yield engines


@pytest.fixture
def worker(request, engines, tmp_path: Path) -> Iterator[Process]:
    """A worker with two processes on those engines; the parameter, if there is one, changes its settings."""
    quick = {"DJANGO_SETTINGS_MODULE": "tests.settings", "JOBS_BEAT_INTERVAL": "1", "JOBS_HAND_OVER_TIMEOUT": "1"}
    runtime.change(carrier=lambda claimed: None)  # our broker is another: what we claim, the clock sends
    with WarmProcesses() as processes:
        command = fleet.worker(
            "default", 2, f"own-{os.getpid()}", engines.environ | quick | getattr(request, "param", {})
        )
        worker = processes.start("worker", *command, log=tmp_path / "log" / "worker.log")
        wait_until(lambda: Worker.objects.exists() or not worker.alive, "the worker registers")
        yield worker


def check(job_id: int) -> None:
    """It succeeded in its first attempt, which nobody interrupted; all slots are free."""
    job = ended(job_id)
    assert (job.status, job.attempt, job.crashes) == ("success", 1, 0)
    assert Run.objects.filter(job_id=job_id).count() == 1
    wait_until(lambda: not Job.objects.filter(slot__isnull=False).exists(), "all slots are free")


@LONG
@pytest.mark.parametrize("worker", [{}, {"CELERY_BROKER_URL": "postgresql://"}], indirect=True)
def test_a_result_computed_while_postgresql_was_away_is_settled_when_it_is_back(engines, worker, tmp_path):
    thing = ThingFactory()
    job_id = thing.async_.wait_for_file(str(tmp_path / "go"))
    running(job_id)
    engines.postgresql.restart = False
    os.kill(engines.postgresql.pid, signal.SIGQUIT)  # an immediate shutdown: no goodbye, recovery at the next start
    engines.postgresql.wait(30)
    (tmp_path / "go").touch()
    wait_until(lambda: not (tmp_path / "go").exists(), "the body ends")
    engines.postgresql.restart = True
    own_engines.wait_for_database()
    check(job_id)
    assert Job.objects.get(pk=job_id).result_expires_at is not None
    assert ended(thing.async_.echo()).status == "success"
    assert worker.alive


@LONG
def test_a_job_whose_object_is_looked_up_while_postgresql_restarts_begins_when_it_is_back(engines, worker, tmp_path):
    thing = ThingFactory()
    (tmp_path / "go").touch()
    with Held("LOCK TABLE sample_thing IN ACCESS EXCLUSIVE MODE"):  # the restart frees it
        job_id = thing.async_.wait_for_file(str(tmp_path / "go"))
        arrived("the look-up waits", "query LIKE '%%sample_thing%%'")
        assert Job.objects.get(pk=job_id).status == "running"
        engines.postgresql.restart = False
        os.kill(engines.postgresql.pid, signal.SIGINT)  # a fast shutdown, as of `systemctl restart`
        engines.postgresql.wait(30)
        engines.postgresql.restart = True
    own_engines.wait_for_database()
    check(job_id)
    assert worker.alive


@LONG
def test_a_worker_survives_a_broker_that_is_killed_while_it_runs_a_job(engines, worker, tmp_path):
    """With `acks_late`, which jobs do not have, one of Celery 5.7.0 does not."""
    thing = ThingFactory()
    job_id = thing.async_.wait_for_file(str(tmp_path / "go"))
    running(job_id)
    before = engines.valkey.pid
    os.kill(before, signal.SIGKILL)
    wait_until(lambda: engines.valkey.pid != before and answers(engines), "Valkey is back")
    (tmp_path / "go").touch()
    check(job_id)
    assert ended(thing.async_.echo()).status == "success"  # the worker hears again
    assert worker.alive
    assert Worker.objects.filter(gone_at=None).count() == 1


@LONG
def test_a_broker_that_stands_still_kills_no_worker_and_holds_up_no_clock(engines, worker, tmp_path):
    thing = ThingFactory(tenant=TenantFactory(queue__num_slots=9))
    innocent = thing.async_.wait_for_file(str(tmp_path / "go"))
    running(innocent)
    victim = thing.async_.spin()
    child = running(victim)
    os.kill(engines.valkey.pid, signal.SIGSTOP)
    try:
        os.kill(child, signal.SIGKILL)
        wait_until(lambda: Job.objects.get(pk=victim).crashes == 1, "its parent takes the job back", limit=10)
        beaten = Worker.objects.get().beat_at + timedelta(seconds=6)
        while Worker.objects.get().beat_at < beaten:  # four times as long as a worker may be silent
            due = thing.async_(delay=0.1, dedup=False).echo()
            wait_until(lambda due=due: Job.objects.get(pk=due).status != "scheduled", "it is promoted", SOON)
        assert worker.alive
        assert Worker.objects.get().gone_at is None
        job = Job.objects.get(pk=innocent)
        assert (job.status, job.attempt, job.crashes) == ("running", 1, 0)
    finally:
        os.kill(engines.valkey.pid, signal.SIGCONT)
    cancel(victim, tenant_id=EVERY_TENANT)
    (tmp_path / "go").touch()
    assert ended(innocent).status == "success"
    assert ended(thing.async_.again()).status == "success"


@LONG
def test_jobs_submitted_without_a_broker_run_when_it_is_back(engines, worker):
    engines.valkey.restart = False
    os.kill(engines.valkey.pid, signal.SIGKILL)
    engines.valkey.wait(30)
    things = [ThingFactory(tenant=TenantFactory(queue__num_slots=1)) for _ in range(3)]
    ids = [thing.async_.echo(n) for thing in things for n in range(2)]
    assert set(Job.objects.values_list("status", flat=True)) <= {"queued", "created"}
    engines.valkey.restart = True
    for job_id in ids:
        check(job_id)


@pytest.mark.django_db(transaction=True)
def test_messages_that_a_flush_of_the_broker_has_lost_are_sent_again(start_worker, register, tmp_path):
    worker = start_worker(concurrency=1)
    register(concurrency=1)  # only a row: what it is given waits in the broker
    thing = ThingFactory(tenant=TenantFactory(queue__num_slots=2))
    first = thing.async_.wait_for_file(str(tmp_path / "go"))
    running(first)
    others = thing.async_.echo.many([{"value": n} for n in range(3)])
    wait_until(lambda: Job.objects.filter(status="queued").exists(), "one of them waits in the broker")
    broker, cache = map(redis.Redis.from_url, (settings.CELERY_BROKER_URL, settings.CACHES["default"]["LOCATION"]))
    with broker, cache:
        broker.flushdb()  # others have databases on this Valkey, too
        cache.flushdb()
        strangers = [f"{settings.DEPLOYMENT}:{name}" for name in ("default", "unacked_index")]
        broker.mset(dict.fromkeys(strangers, "of a stranger"))  # so that it refuses what it is asked, and asked first
        (tmp_path / "go").touch()
        log, files = next(tmp_path.glob("default*.log")), Path(f"/proc/{worker.pid}/fd")
        opened = len([*files.iterdir()])
        wait_until(lambda: log.read_text().count("WRONGTYPE") >= 20, "the worker has asked again and again")
        assert len([*files.iterdir()]) < opened + 20  # each connection has three
        broker.delete(*strangers)
    for job_id in [first, *others]:
        check(job_id)
    assert worker.alive


@pytest.mark.django_db(transaction=True)
def test_a_result_is_settled_although_all_connections_were_cut_under_its_body(work):
    worker = work.start_worker()
    work.fill()
    with Held("LOCK TABLE attempts IN EXCLUSIVE MODE"):
        work.release()
        wait_until(lambda: backends("wait_event_type = 'Lock'"), "its settling is under way")
        before = backends(OURS)
        for session in before:
            cut(session)
    work.submit(2)
    assert work.ended() == {("success", 1, 0)}
    work.nothing_is_left()
    assert len(before) >= 3  # of the process or the feeder, the presence and the clock
    assert worker.alive


@pytest.mark.django_db(transaction=True)
def test_the_first_job_after_all_idle_connections_were_cut_ends_as_if_nothing_had_been(work):
    work.start_worker()
    work.release()
    work.submit(2)
    assert work.ended() == {("success", 1, 0)}
    for session in backends(OURS):
        cut(session)
    work.submit(2)
    assert work.ended() == {("success", 1, 0)}


def answers(engines: Engines) -> bool:
    try:
        with redis.Redis.from_url(engines.environ[embedded_engines.BROKER]) as client:
            return client.ping()
    except redis.RedisError:
        return False
