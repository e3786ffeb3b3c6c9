"""No broker of one's own: `CELERY_BROKER_URL = "postgresql://"`, and the guarantees are the same."""

import os
import signal
from collections.abc import Callable

import pytest

from jobs.engine.process import runtime
from jobs.engine.verbs import cancel
from jobs.models import Job
from jobs.store.messages import Messages
from tests.acceptance.following import ended
from tests.factories import QueueFactory, ThingFactory
from tests.sql import sql
from tests.waiting import wait_until

LONG = pytest.mark.long("a loss of this broker's; tests/integration/store/test_messages.py has its parts")
QUEUES = ("default", "heavy")
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def start_worker(environ, start_worker, tmp_path) -> Callable:
    """Here and in the workers PostgreSQL is the broker."""
    environ |= {"CELERY_BROKER_URL": "postgresql://", "JOBS_BEAT_FILE": str(tmp_path / "beat")}
    messages = Messages()
    runtime.change(carrier=lambda claimed: [messages.send(f"{one.pool} {one.id}-{one.attempt}") for one in claimed])
    yield start_worker
    messages.close()


def test_jobs_of_two_tenants_and_two_pools_end_each_runs_once_and_a_cancel_reaches_one(start_worker, tmp_path) -> None:
    QueueFactory(name="heavy", pool="heavy")
    for pool in ("default", "default", "heavy"):
        start_worker(pool, concurrency=2)
    things = [ThingFactory(tenant__queue__num_slots=4) for _ in range(2)]
    ids = [thing.async_(queue=queue).echo(f"{queue} {n}") for n in range(10) for thing in things for queue in QUEUES]
    wait_until(lambda: Job.objects.filter(pk__in=ids, status="success").count() == 40, "all end")
    assert set(Job.objects.values_list("attempt", "crashes")) == {(1, 0)}
    logs = "".join(log.read_text() for log in tmp_path.glob("*.log"))
    assert "message lost" not in logs, "each was heard, and by somebody who could run it"
    assert "message refused" not in logs
    assert (tmp_path / "beat").exists(), "probes find them ready"
    job_id = things[0].async_.until_cancelled()
    wait_until(lambda: Job.objects.get(pk=job_id).status == "running", "it runs")
    cancel.cancel(job_id, tenant_id=things[0].tenant_id)
    assert ended(job_id).status == "cancelled"


@LONG
def test_a_busy_worker_takes_no_message_that_another_could_run(start_worker, tmp_path) -> None:
    start_worker(concurrency=1)
    thing = ThingFactory(tenant__queue__num_slots=6)
    ids = [thing.async_.wait_for_file(str(tmp_path / "door0"))]
    wait_until(lambda: Job.objects.filter(status="running").count() == 1, "one runs")
    start_worker(concurrency=5)
    lose_sessions()  # Celery forgets then which of its processes are busy
    # Many, since a worker that took what it could not run would have to hear it first.
    ids += [thing.async_.wait_for_file(str(tmp_path / f"door{n}")) for n in range(1, 6)]
    wait_until(lambda: Job.objects.filter(status="running").count() == 6, "all run")
    for n in range(6):
        (tmp_path / f"door{n}").touch()
    assert [ended(job_id).attempt for job_id in ids] == [1] * 6


def lose_sessions() -> None:
    """As with a restart of PostgreSQL, or a failover: end the sessions in which workers hear."""
    assert sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ~ 'jobs_messages|jobs.messages'"
        " AND pid <> pg_backend_pid() AND NOT query ~ 'pg_notify' AND datname = current_database()"
    )


@LONG
def test_the_jobs_of_a_killed_worker_run_elsewhere(start_worker, tmp_path) -> None:
    first = start_worker(concurrency=2)
    thing = ThingFactory(tenant__queue__num_slots=4)
    ids = [thing.async_.wait_for_file(str(tmp_path / f"door{n}")) for n in range(4)]
    wait_until(lambda: Job.objects.filter(status="running").count() == 2, "two run")
    start_worker(concurrency=2)
    os.killpg(first.pid, signal.SIGKILL)  # which takes a moment: a process that dies could still take a file away
    wait_until(lambda: Job.objects.filter(crashes=1).count() == 2, "two are taken back")
    for n in range(4):
        (tmp_path / f"door{n}").touch()
    assert {ended(job_id).status for job_id in ids} == {"success"}
    assert sorted(Job.objects.values_list("crashes", flat=True)) == [0, 0, 1, 1]


@LONG
def test_a_worker_survives_the_loss_of_its_session(start_worker) -> None:
    worker = start_worker(concurrency=1)
    thing = ThingFactory()
    assert ended(thing.async_.echo(1)).status == "success"
    lose_sessions()
    assert ended(thing.async_.echo(2)).status == "success"
    assert worker.alive
