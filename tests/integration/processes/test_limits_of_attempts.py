"""Limits of time and memory, and cancels: a process that is over one is ended, whatever its code does, and no other."""

import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator

import psutil
import pytest
from billiard.einfo import ExceptionInfo
from billiard.exceptions import WorkerLostError
from django.utils import timezone

from jobs import store
from jobs.engine.recover import Sentence
from jobs.lifecycle import Status
from jobs.processes import children, limits, reports
from jobs.processes.cancels import Cancels
from jobs.processes.delivery import AttemptRequest
from jobs.processes.desk import Desk, Running
from jobs.processes.limits import MIB, Limits, memory_of
from jobs.processes.reports import Ended
from jobs.store import Failure
from tests.factories import TenantFactory, make_job
from tests.waiting import wait_until

CEILING = 60  # MiB, well above a bare Python
HOUR, OVER = 3600.0, -1.0  # seconds from now


@pytest.fixture
def start() -> Iterator[Callable[..., int]]:
    """Start a process, as the pool does, that holds so many MiB, and its own subprocess others; wait until they do."""
    started: list[subprocess.Popen] = []

    def start(mib: int = 1, below: int = 0) -> int:
        code = f"held = b'x' * ({mib} * {MIB})\n"
        if below:
            below_code = f"held = b'x' * ({below} * {MIB}); print('there', flush=True); import time; time.sleep(600)"
            code += "import subprocess, sys\n"
            code += f"below = subprocess.Popen([sys.executable, '-c', {below_code!r}], stdout=subprocess.PIPE)\n"
            code += "below.stdout.readline()\n"
        code += "print('there', flush=True); import time; time.sleep(600)"
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, process_group=0)
        started.append(process)
        assert process.stdout.readline() == b"there\n"
        return process.pid

    yield start
    for process in started:
        children.end(process.pid)
        process.communicate()


@pytest.fixture(autouse=True)
def nothing_told() -> Iterator[None]:
    yield
    while not reports.ended.empty():
        reports.ended.get_nowait()


@pytest.fixture
def desk() -> Desk:
    return Desk(8)


@pytest.fixture
def lay(desk, monkeypatch):
    """Let a process run this attempt: `lay(place, pid, job_id=1, seconds=HOUR, memory=0)`."""

    def lay(place: int, pid: int, job_id: int = 1, seconds: float = HOUR, memory: int = 0) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: pid)
            desk.sit_down(place)
            desk.take_up(job_id, 1, seconds, memory)

    return lay


@pytest.fixture
def pool(desk) -> Callable[..., Limits]:
    """The limits of a pool of these processes."""
    return lambda *pids: Limits(desk, threading.Event(), lambda: pids)


def is_gone(pid: int) -> bool:
    return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


class TestTime:
    def test_a_process_that_is_over_its_time_is_killed_and_one_that_is_not_lives(self, start, lay, pool):
        late, early = start(), start()
        lay(0, late, 7, OVER)
        lay(1, early, 8)
        pool(late, early).look()
        wait_until(lambda: is_gone(late), "the late one is killed")
        assert not is_gone(early)
        assert children.sentence_of(late) == Sentence(7, 1, None)
        assert children.sentence_of(early) is None

    def test_what_its_body_has_started_ends_with_it(self, start, lay, pool):
        late = start(below=1)
        (below,) = psutil.Process(late).children()
        lay(0, late, 7, OVER)
        pool(late).look()
        wait_until(lambda: not below.is_running() or below.status() == psutil.STATUS_ZOMBIE, "it is killed too")

    def test_a_number_that_is_no_process_of_the_pool_is_left_alone(self, start, lay, pool):
        """A dead process cannot clear its place, and somebody else may have its number by now."""
        stranger, own = start(), start()
        lay(0, stranger, 7, OVER)
        lay(1, own, 8, OVER)
        pool(own).look()
        wait_until(lambda: is_gone(own), "the look is over")
        assert not is_gone(stranger)

    def test_no_more_sentences_are_remembered_than_processes_may_be(self, monkeypatch):
        monkeypatch.setattr(children, "end", lambda pid: None)
        for pid in range(2**23, 2**23 + 1025):
            children.condemn(pid, Sentence(1, 1, None))
        assert children.sentence_of(2**23) is None
        assert children.sentence_of(2**23 + 1024) is not None

    def test_a_process_that_has_died_is_told_once_also_while_celery_waits_for_its_broker(self, start, lay, pool):
        dead = start()
        lay(0, dead, 7)
        looks = pool(dead)
        psutil.Process(dead).kill()
        wait_until(lambda: is_gone(dead), "it is gone")
        looks.look()
        looks.look()
        assert reports.ended.get_nowait() == Ended(dead, 7, 1, "its process was ended by SIGKILL")
        assert reports.ended.empty()

    def test_so_is_one_that_was_condemned_with_its_sentence(self, start, lay, pool):
        late = start()
        lay(0, late, 7, OVER)
        looks = pool(late)
        looks.look()
        wait_until(lambda: is_gone(late), "it is killed")
        looks.look()
        assert reports.ended.get_nowait().sentence == Sentence(7, 1, None)
        looks.look()
        assert reports.ended.empty()

    def test_a_body_that_ends_while_it_is_looked_at_has_ended(self, start, lay, pool, desk, monkeypatch):
        late = start()
        lay(0, late, 7, OVER)
        seen = [desk.running(), [Running(late, 8, 1, HOUR, 0)]]
        monkeypatch.setattr(desk, "running", lambda: seen.pop(0))
        pool(late).look()
        assert not is_gone(late)
        assert seen == []


class TestMemory:
    def test_a_process_above_its_ceiling_is_killed_and_one_below_is_not(self, start, lay, pool):
        small, large = start(1), start(2 * CEILING)
        lay(0, small, 1, memory=CEILING)
        lay(1, large, 2, memory=CEILING)
        pool(small, large).look()
        wait_until(lambda: is_gone(large), "the large one is killed")
        assert not is_gone(small)
        sentence = children.sentence_of(large)
        assert (sentence.job_id, sentence.attempt, sentence.failure.error_class) == (2, 1, "MemoryExceeded")
        assert sentence.failure.error.endswith(f"MiB of memory; {CEILING} MiB are allowed")
        assert int(sentence.failure.error.split()[1]) > CEILING

    def test_what_it_has_started_counts(self, start, lay, pool):
        large = start(1, below=2 * CEILING)
        lay(0, large, memory=CEILING)
        pool(large).look()
        wait_until(lambda: is_gone(large), "it is killed")

    def test_without_a_ceiling_it_may_grow(self, start, lay, pool):
        large = start(2 * CEILING)
        lay(0, large)
        pool(large).look()
        assert not is_gone(large)

    def test_a_process_that_is_gone_takes_none(self):
        assert memory_of(2**22 + 1) == 0  # no pid of Linux is so large


def test_the_limits_look_again_and_again_in_a_thread(start, lay, desk, monkeypatch):
    monkeypatch.setattr(limits, "LOOK_EVERY", 0.01)
    late, stop = start(), threading.Event()
    progress = limits.Progress()
    thread = threading.Thread(target=Limits(desk, stop, lambda: [late]).run, args=(progress,))
    thread.start()
    wait_until(lambda: progress.rounds > 2, "it looks")
    lay(0, late, 7, OVER)
    wait_until(lambda: is_gone(late), "it is killed")
    stop.set()
    thread.join()


@pytest.mark.django_db(transaction=True)
class TestCancels:
    @pytest.fixture
    def worker(self, register) -> uuid.UUID:
        return register()

    @pytest.fixture
    def look(self, worker, desk):
        """Look at the cancels of a pool of these processes."""
        return lambda *pids: Cancels(worker, desk, threading.Event(), lambda: pids).look()

    @pytest.fixture
    def overdue(self, worker, settings):
        """A job that runs in this process and was asked to stop."""
        settings.JOBS_CANCEL_GRACE = 0

        def overdue(pid: int, **fields) -> int:
            said = {"worker": worker, "worker_pid": pid, "cancel_requested_at": timezone.now()} | fields
            return make_job(TenantFactory(), Status.RUNNING, **said).pk

        return overdue

    def test_a_body_that_does_not_stop_within_the_grace_is_ended(self, start, lay, look, overdue, settings):
        settings.JOBS_CANCEL_GRACE = 10
        pid = start()
        job = overdue(pid)
        lay(0, pid, job)
        look(pid)
        assert not is_gone(pid)
        settings.JOBS_CANCEL_GRACE = 0
        look(pid)
        wait_until(lambda: is_gone(pid), "it is killed")
        error = "did not stop within 0 s and was killed"
        assert children.sentence_of(pid) == Sentence(job, 1, Failure("Cancelled", error))

    def test_one_that_nobody_asked_is_left_alone(self, start, lay, look, overdue):
        pid = start()
        lay(0, pid, overdue(pid, cancel_requested_at=None))
        look(pid)
        assert not is_gone(pid)

    def test_a_process_that_is_at_another_job_by_now_is_left_alone(self, start, lay, look, overdue):
        pid = start()
        lay(0, pid, overdue(pid) + 1)
        look(pid)
        assert not is_gone(pid)

    def test_so_is_one_that_has_put_it_down_and_is_settling(self, start, lay, look, overdue, desk):
        pid = start()
        lay(0, pid, overdue(pid))
        desk.put_down()
        look(pid)
        assert not is_gone(pid)

    def test_another_workers_is_its_own_business(self, start, lay, look, overdue):
        pid = start()
        lay(0, pid, overdue(pid, worker=uuid.uuid4()))
        look(pid)
        assert not is_gone(pid)

    def test_the_look_outlives_a_database_that_is_away(self, worker, desk, monkeypatch):
        from django.db import OperationalError

        asked, stop = [], threading.Event()

        def away(*_: object) -> list:
            asked.append(True)
            raise OperationalError

        monkeypatch.setattr("jobs.processes.cancels.LOOK_EVERY", 0.01)
        monkeypatch.setattr(store, "overdue_cancels", away)
        progress = limits.Progress()
        thread = threading.Thread(target=Cancels(worker, desk, stop, list).run, args=(progress,))
        thread.start()
        wait_until(lambda: len(asked) > 2, "it asks again")
        stop.set()
        thread.join()


class TestTheMessage:
    """What the worker's parent process makes of its end; Celery's own part of it is left out."""

    @pytest.fixture
    def lost(self, monkeypatch):
        """The message of this job is lost with the process that has it."""
        from celery.worker.request import Request

        monkeypatch.setattr(Request, "on_failure", lambda self, *_, **__: None)

        def lost(job_id: int, pid: int | None, error: Exception) -> Ended:
            request = object.__new__(AttemptRequest)
            request._args = (job_id, 3, 5.0, None)
            request.worker_pid = pid
            try:
                raise error
            except Exception:
                request.on_failure(ExceptionInfo())
            return reports.ended.get_nowait()

        return lost

    def test_the_process_and_why_it_was_ended_are_told(self, lost, start, lay, pool):
        large, other = start(2 * CEILING), start()
        lay(0, large, 1, memory=CEILING)
        pool(large).look()
        told = lost(1, large, WorkerLostError("signal 9 (SIGKILL)"))
        assert (told.pid, told.job_id, told.attempt) == (large, 1, 3)
        assert told.sentence.failure.error_class == "MemoryExceeded"
        told = lost(2, other, WorkerLostError("signal 9 (SIGKILL)"))
        assert (told.sentence, told.error) == (None, "signal 9 (SIGKILL)")

    def test_a_process_that_could_not_settle_is_ended_before_anybody_is_told(self, lost, start):
        """It may be at the next job already; what it is running is given to others."""
        pid = start(below=1)
        (below,) = psutil.Process(pid).children()
        lost(1, pid, RuntimeError("no database"))
        wait_until(lambda: is_gone(pid), "it is killed")
        wait_until(lambda: not below.is_running() or below.status() == psutil.STATUS_ZOMBIE, "and what it has started")

    def test_subprocesses_of_one_that_has_died_are_ended(self, lost, start):
        pid = start(below=1)
        (below,) = psutil.Process(pid).children()
        psutil.Process(pid).kill()
        wait_until(lambda: is_gone(pid), "it is gone")
        lost(1, pid, WorkerLostError("signal 9 (SIGKILL)"))
        wait_until(lambda: not below.is_running() or below.status() == psutil.STATUS_ZOMBIE, "it is killed")

    def test_without_a_process_nothing_is_killed(self, lost):
        assert lost(1, None, RuntimeError("never taken up")) == Ended(0, 1, 3, "never taken up")
