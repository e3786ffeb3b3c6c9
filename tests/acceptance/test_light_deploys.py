"""A pool changes its kind while its jobs run and wait, or a worker cannot know it: both kinds serve it for a while."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.db import connection

from embedded import fleet
from embedded.process import Process
from jobs.engine.verbs import pools
from jobs.models import Job
from tests.acceptance.work import PROCESSES
from tests.chaos.freezing import children
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.long("workers of both kinds; tests/integration/store/test_trips_claim.py has who claims for them"),
    pytest.mark.parametrize("work", ["light"], indirect=True),
]


def are_in(worker: Process, ids: list[int]) -> bool:
    """Whether all of these run in processes of that worker."""
    pids = Job.objects.filter(pk__in=ids, status="running").values_list("worker_pid", flat=True)
    return len(pids) == len(ids) and set(pids) <= {*children(worker.pid)}


def test_a_pool_becomes_light_and_ordinary_again_while_its_jobs_run_and_wait(work):
    pools.change(work.kind.pool, kind="ordinary")
    ordinary = work.start_worker()
    first = work.submit(2)  # its processes run them on loops of their own
    work.run(first)
    waiting = work.submit(6)
    pools.change(work.kind.pool, kind="light", seats=12)
    light = work.start_worker()
    work.run(waiting)
    assert are_in(ordinary, first)
    assert are_in(light, waiting)
    os.kill(ordinary.pid, signal.SIGTERM)
    work.release()
    assert work.ended() == {("success", 1, 0)}
    assert ordinary.wait(30) == 0

    back = work.submit(24, "back")
    work.run(back)
    waiting = work.submit(2, "back")
    pools.change(work.kind.pool, kind="ordinary")
    ordinary = work.start_worker()
    assert are_in(light, back)
    os.kill(light.pid, signal.SIGTERM)
    work.run(waiting)
    assert are_in(ordinary, waiting)
    work.release("back")
    assert work.ended() == {("success", 1, 0)}
    assert light.wait(30) == 0
    work.nothing_is_left()


@contextmanager
def no_connections() -> Iterator[None]:
    """PostgreSQL is away to all who are not connected yet."""
    change = f'ALTER DATABASE "{connection.settings_dict["NAME"]}" ALLOW_CONNECTIONS '
    with psycopg.connect(**connection.get_connection_params() | {"dbname": "postgres"}, autocommit=True) as elsewhere:
        elsewhere.execute(change + "false")
        try:
            yield
        finally:
            elsewhere.execute(change + "true")


def test_a_worker_that_was_started_while_the_database_was_away_becomes_light(work, environ, processes, tmp_path):
    log = tmp_path / "light.log"
    with no_connections():
        command = fleet.worker(work.kind.pool, PROCESSES, f"early-{os.getpid()}", environ)
        processes.start("early", *command, log=log, restart=True)
        wait_until(lambda: log.exists() and "thread without database thread=worker" in log.read_text(), "it is ready")
    work.fill()
    work.release()
    assert work.ended() == {("success", 1, 0)}
    work.nothing_is_left()
    assert "its pool is light" in log.read_text()
