"""A worker that is told to stop: by a signal, to itself or to all its processes, or by an operator."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from embedded import fleet
from embedded.process import Process
from jobs.engine.verbs.drain import drain
from jobs.models import FailedAttempt, Job, Worker
from tests.acceptance.following import ended, held_lock, running
from tests.chaos.freezing import Held, backends, children
from tests.factories import ThingFactory
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_idle_worker_stops_as_soon_as_it_is_told_to(start_worker, tmp_path):
    worker = start_worker(concurrency=2)
    os.kill(worker.pid, signal.SIGTERM)
    assert worker.wait(30) == 0
    [log] = map(Path.read_text, tmp_path.glob("default*.log"))
    assert "this clock leads" in log  # all of its threads were at work
    assert "thread did not stop" not in log


@pytest.mark.long("that a real worker stops when its row says so; test_parent_threads has what its heartbeat hears")
def test_a_worker_that_is_asked_to_drain_lets_its_job_end_and_takes_no_other(start_worker):
    worker, thing = start_worker(concurrency=1), ThingFactory(tenant__queue__num_slots=5)
    with held_lock(7):
        job_id = thing.async_.wait_for_lock(7)
        running(job_id)
        assert drain(Worker.objects.get().pk)
        waits = thing.async_.echo()
        seen = Worker.objects.get().beat_at
        wait_until(lambda: Worker.objects.get().beat_at > seen, "it hears of it")
        assert worker.alive
    assert ended(job_id).status == "success"
    assert worker.wait(30) == 0
    gone = Worker.objects.get()
    assert (gone.gone_at is None, gone.lost) == (False, False)
    assert Job.objects.get(pk=waits).status == "created"


def drains(worker: Process) -> None:
    wait_until(lambda: Worker.objects.get(pid=worker.pid).concurrency == 0, "it drains")


def tell(worker: Process, number: signal.Signals) -> None:
    os.kill(worker.pid, number)


def tell_all(worker: Process, number: signal.Signals) -> None:
    """As a platform does that signals all processes: first those that run jobs."""
    for pid in (*children(worker.pid), worker.pid):
        os.kill(pid, number)


def interrupt_twice(worker: Process) -> None:
    tell(worker, signal.SIGINT)
    drains(worker)
    tell(worker, signal.SIGINT)


def quit_thrice(worker: Process) -> None:
    """The second ends the jobs, the third the worker, which would go on waiting."""
    tell(worker, signal.SIGQUIT)
    drains(worker)
    tell(worker, signal.SIGQUIT)
    wait_until(lambda: not Job.objects.filter(status="running").exists(), "its job is taken back")
    tell(worker, signal.SIGQUIT)


def test_a_signal_to_all_its_processes_lets_running_jobs_end(work):
    """It comes twice, and the stop waits for ends that PostgreSQL does not take yet."""
    worker = work.start_worker()
    ids = work.fill()
    waiting = work.submit(2)
    for child in work.pids():
        for number in (signal.SIGQUIT, signal.SIGHUP):
            os.kill(child, number)
    tell_all(worker, signal.SIGTERM)
    drains(worker)
    tell_all(worker, signal.SIGTERM)
    with Held("LOCK TABLE attempts IN EXCLUSIVE MODE"):
        work.release()
        # Not by its text, of which PostgreSQL shows the first kilobyte.
        wait_until(lambda: backends("cardinality(pg_blocking_pids(pid)) > 0"), "an end waits")
        assert worker.alive
    assert work.ended(ids) == {("success", 1, 0)}
    assert worker.wait(30) == 0
    assert set(Job.objects.filter(pk__in=waiting).values_list("status", "attempt")) == {("created", 0)}
    assert not FailedAttempt.objects.exists()
    work.nothing_is_left()


STOPS: dict[str, tuple[Callable[[Process], object], dict[str, str]]] = {
    "cold": (lambda worker: tell(worker, signal.SIGQUIT), {}),
    "cold-to-all": (lambda worker: tell_all(worker, signal.SIGQUIT), {}),
    "remapped-to-all": (lambda worker: tell_all(worker, signal.SIGTERM), {"REMAP_SIGTERM": "SIGQUIT"}),
    "ctrl-c-twice": (interrupt_twice, {}),
    "soft": (lambda worker: tell(worker, signal.SIGQUIT), {"SAMPLE_SOFT_SHUTDOWN": "1"}),
    "soft-cut-short": (quit_thrice, {"SAMPLE_SOFT_SHUTDOWN": "3600"}),
}


@pytest.fixture
def is_no_crash(work):
    """`is_no_crash(stop)`: a worker whose jobs such a stop ends, and which then run again."""

    def is_no_crash(stop: Callable[[Process], object]) -> None:
        stopped = work.start_worker()
        work.fill()
        stop(stopped)
        assert stopped.wait(30) is not None
        gone = Worker.objects.get(pid=stopped.pid)
        assert (gone.gone_at is None, gone.lost) == (False, False)
        given_back = Job.objects.values_list("attempt", "crashes", "last_error")
        wait_until(lambda: set(given_back) == {(1, 0, "WorkerStopped: its worker was stopped")}, "all are given back")
        work.release()
        work.start_worker()
        assert work.ended() == {("success", 2, 0)}
        work.nothing_is_left()

    return is_no_crash


@pytest.mark.long("other ways to say so; test_recover has what becomes of the attempts")
@pytest.mark.parametrize(("stop", "said"), STOPS.values(), ids=STOPS)
def test_a_job_that_a_stop_in_haste_ends_runs_again_and_has_not_crashed(stop, said, is_no_crash, environ, processes):
    if "REMAP_SIGTERM" in said:
        processes.child = Process  # started cold: billiard reads it when it is imported
    environ |= said
    is_no_crash(stop)


@pytest.mark.long("how long Celery waits, and that a light worker does, too")
def test_a_soft_stop_lets_jobs_end_for_as_long_as_it_may_wait(work, environ):
    environ["SAMPLE_SOFT_SHUTDOWN"] = "4"
    worker = work.start_worker()
    work.fill()
    tell(worker, signal.SIGQUIT)
    drains(worker)
    work.release()
    assert work.ended() == {("success", 1, 0)}
    assert worker.wait(30) is not None
    work.nothing_is_left()


# As before Celery 5.5, and whenever a request had not been accepted: it terminates the pool, without having cancelled.
TERMINATES = """
import runpy, signal
from celery.worker import state
signal.signal(signal.SIGUSR2, lambda *_: setattr(state, "should_terminate", 1))
runpy.run_module("celery", run_name="__main__", alter_sys=True)
"""


@pytest.mark.long("Celery's own end of a pool, which waits for what ignores SIGTERM")
def test_a_worker_whose_pool_celery_terminates_causes_no_crash(is_no_crash, monkeypatch):
    worker = fleet.worker

    def terminating(*how: Any) -> fleet.Command:
        argv, env = worker(*how)
        return fleet.Command([argv[0], "-c", TERMINATES, *argv[3:]], env)

    monkeypatch.setattr(fleet, "worker", terminating)
    is_no_crash(lambda stopped: tell(stopped, signal.SIGUSR2))
