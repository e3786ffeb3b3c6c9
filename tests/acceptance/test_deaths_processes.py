"""The processes of a worker are killed while its seats are taken: one, all at once, and one that holds nothing."""

import os
import signal

import pytest

from jobs.models import Job, Worker
from tests.acceptance.work import PROCESSES
from tests.chaos.freezing import backends, children, has_ended, kill
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_killed_one_and_then_all_at_once(work):
    worker = work.start_worker()
    ids = work.fill()
    first = min(work.pids())
    of_first = [*Job.objects.filter(worker_pid=first).values_list("pk", flat=True)]
    others = [*{*ids} - {*of_first}]
    kill(first)
    work.run(of_first, attempt=2)
    assert set(Job.objects.filter(pk__in=others).values_list("attempt", "crashes")) == {(1, 0)}
    processes = children(worker.pid)
    assert first not in processes
    for pid in processes:
        os.kill(pid, signal.SIGKILL)
    work.run(of_first, attempt=3)
    work.run(others, attempt=2)
    work.release()
    assert work.ended(of_first) == {("success", 3, 2 * work.kind.crash)}
    assert work.ended(others) == {("success", 2, work.kind.crash)}
    work.nothing_is_left()
    assert worker.alive


def test_killed_one_that_holds_nothing_beside_one_that_does(work):
    worker = work.start_worker()
    work.run(work.submit(1))
    [idle] = {*children(worker.pid)} - work.pids()
    kill(idle)
    wait_until(lambda: len({*children(worker.pid)} - {idle}) == PROCESSES, "another takes its place")
    work.run(work.submit(PROCESSES * work.kind.seats - 1))
    assert len(work.pids()) == 2
    work.release()
    assert work.ended() == {("success", 1, 0)}
    work.nothing_is_left()


def test_killed_one_while_its_worker_drains(work):
    worker = work.start_worker()
    work.fill()
    os.kill(worker.pid, signal.SIGTERM)
    wait_until(Worker.objects.filter(concurrency=0).exists, "it drains")
    victim, *_ = work.pids()
    of_victim = {*Job.objects.filter(worker_pid=victim).values_list("pk", flat=True)}
    kill(victim)
    wait_until(lambda: victim not in work.pids(), "its attempts are taken back")
    work.release()
    assert worker.wait(30) == 0
    work.start_worker()
    assert work.ended([*of_victim]) == {("success", 2, work.kind.crash)}
    assert work.ended([*{*work.ids} - of_victim]) == {("success", 1, 0)}
    work.nothing_is_left()


@pytest.mark.parametrize("work", ["light"], indirect=True)
def test_killed_one_takes_along_what_the_bodies_in_it_have_started(work, tmp_path):
    worker = work.start_worker(1)
    work.run(work.submit(2))
    number, busy = tmp_path / "pid", "query LIKE 'SELECT pg_sleep%%' AND state = 'active'"
    work.ids.append(work.tenants[0].async_.light_start_others(str(number)))
    wait_until(lambda: backends(busy), "its statement runs")
    [victim] = children(worker.pid)
    kill(victim)
    wait_until(lambda: has_ended(int(number.read_text())) and not backends(busy), "both end")
    work.release()
    assert work.ended() == {("success", 2, 0)}
