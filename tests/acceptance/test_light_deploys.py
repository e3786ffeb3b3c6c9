"""A pool changes its kind while its jobs run and wait: workers of both kinds serve it side by side."""

import os
import signal

import pytest

from embedded.process import Process
from jobs.engine.verbs import pools
from jobs.models import Job
from tests.chaos.freezing import children

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
