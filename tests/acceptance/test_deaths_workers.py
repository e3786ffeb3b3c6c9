"""Whole workers: stopped until they are declared gone, or killed while they lead the clock; alone, and supervised."""

import os
import signal
from uuid import UUID

import pytest

from embedded import fleet
from jobs import store
from jobs.models import FailedAttempt, Job, Worker
from jobs.store import results
from jobs.worker.parent import EXIT_START_ANEW
from tests.acceptance.following import ended, running
from tests.chaos.freezing import NUMBER, Held, children, has_ended, kill, stopped
from tests.sample.models import Run
from tests.sql import sql
from tests.waiting import wait_until

LONG = pytest.mark.long("a worker that stops or returns; that a late result is refused stays")

pytestmark = pytest.mark.django_db(transaction=True)


def gone(pid: int) -> bool:
    return Worker.objects.filter(pid=pid, gone_at__isnull=False).exists()


def workers(pid: int) -> list[UUID]:
    return [*Worker.objects.filter(pid=pid).values_list("pk", flat=True)]


def clocks_session() -> int | None:
    """The session that holds the lock of the clock's leader."""
    found = sql(
        "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"
        " AND classid = (hashtext('jobs.clock')::bigint & 4294967295)::oid"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    return found[0][0] if found else None


@LONG
def test_a_worker_that_comes_back_after_it_was_declared_gone_stops_what_it_runs_and_exits(start_worker, thing):
    stale = start_worker(concurrency=1)
    with Held(NUMBER, 7) as body:
        job_id = thing.async_.wait_for_lock(7)
        running(job_id)
        child = Run.objects.get(job_id=job_id).pid
        start_worker(concurrency=1)
        with stopped(stale.pid):
            wait_until(lambda: gone(stale.pid), "it is declared gone")
            wait_until(lambda: Run.objects.filter(job_id=job_id).count() == 2, "its job runs elsewhere")
            assert not has_ended(child)  # the old body is still at it
        assert stale.wait(30) == EXIT_START_ANEW
        wait_until(lambda: has_ended(child), "the old body is killed")
        body.release()
    job = ended(job_id)
    assert (job.status, job.attempt, job.crashes) == ("success", 2, 1)
    assert results.load(job).value == 2
    assert FailedAttempt.objects.get(job=job).error_class == "WorkerGone"
    assert list(Run.objects.order_by("id").values_list("attempt", flat=True)) == [1, 2]


def test_two_workers_share_the_jobs_of_a_pool_and_one_goes_on_when_the_other_is_killed(work):
    """Its processes die with it. All seats were taken, so its jobs wait for the seats of the other."""
    doomed, other = work.start_worker(), work.start_worker()
    ids = work.fill() + work.fill("first")
    of_other = set(Job.objects.filter(worker__in=workers(other.pid)).values_list("pk", flat=True))
    assert len(of_other) == len(ids) / 2
    processes = children(doomed.pid)
    kill(doomed.pid)
    wait_until(lambda: all(map(has_ended, processes)), "its processes die with it")
    wait_until(lambda: gone(doomed.pid), "it is declared gone")
    work.release("first")
    work.release()
    assert work.ended([*of_other]) == {("success", 1, 0)}
    assert work.ended([*{*ids} - of_other]) == {("success", 2, 1)}
    assert set(FailedAttempt.objects.values_list("error_class", flat=True)) == {"WorkerGone"}
    work.nothing_is_left()


def test_a_result_of_a_worker_that_was_stopped_with_all_its_processes_comes_too_late(work):
    stale = work.start_worker()
    ids = work.fill()
    everybody = [stale.pid, *children(stale.pid)]
    for pid in everybody:
        os.kill(pid, signal.SIGSTOP)
    work.start_worker()
    wait_until(lambda: gone(stale.pid), "it is declared gone")
    work.run(ids, attempt=2)
    work.release()  # the stopped bodies go on from here when they are continued
    assert work.ended() == {("success", 2, 1)}
    for pid in everybody:
        os.kill(pid, signal.SIGCONT)
    assert stale.wait(30) == EXIT_START_ANEW
    assert work.ended() == {("success", 2, 1)}
    work.nothing_is_left()


@LONG
def test_a_cold_stop_ends_its_processes_and_is_no_outcome_of_their_jobs(start_worker, thing, tmp_path):
    stopped_in_haste = start_worker(concurrency=1)
    job_id = thing.async_.wait_for_file(str(tmp_path / "go"))
    running(job_id)
    start_worker(concurrency=1)
    os.kill(stopped_in_haste.pid, signal.SIGQUIT)
    wait_until(lambda: Run.objects.filter(job_id=job_id).count() == 2, "its job runs elsewhere")
    (tmp_path / "go").touch()
    job = ended(job_id)
    assert (job.status, job.attempt, job.crashes) == ("success", 2, 0)
    assert not stopped_in_haste.wait(30)


@LONG
def test_a_supervised_worker_that_was_declared_gone_registers_anew(environ, processes, settings, thing, tmp_path):
    settings.JOBS_BEAT_INTERVAL = float(
        environ["JOBS_BEAT_INTERVAL"]
    )  # as the worker's; nobody else is here to declare it gone
    command = fleet.worker("default", 1, f"supervised-{os.getpid()}", environ)
    worker = processes.start("supervised", *command, log=tmp_path / "supervised.log", restart=True)
    wait_until(lambda: Worker.objects.filter(pid=worker.pid).exists(), "it registers")
    first = Worker.objects.get()
    with stopped(first.pid):
        wait_until(store.declare_gone, "it is declared gone")
    wait_until(lambda: Worker.objects.filter(gone_at=None).exclude(pk=first.pk).exists(), "it registers anew")
    wait_until(lambda: has_ended(first.pid), "the first one is gone")
    assert ended(thing.async_.echo()).status == "success"


@LONG
def test_when_the_clocks_leader_is_killed_another_leads_and_recovery_goes_on(start_worker, thing):
    leader = start_worker(concurrency=1)  # the only one, so far
    wait_until(clocks_session, "its clock leads")
    led_by = clocks_session()
    with Held(NUMBER, 7) as body:
        job_id = thing.async_.wait_for_lock(7)
        running(job_id)
        start_worker(concurrency=1)
        assert clocks_session() == led_by
        kill(leader.pid)
        wait_until(lambda: clocks_session() not in {None, led_by}, "another clock leads")
        wait_until(lambda: Run.objects.filter(job_id=job_id).count() == 2, "its job runs elsewhere")
        body.release()
    job = ended(job_id)
    assert (job.status, job.attempt, job.crashes) == ("success", 2, 1)
    assert ended(thing.async_(delay=0.2).echo()).status == "success"
    assert not Job.objects.filter(slot__isnull=False).exists()
