"""Limits of time and memory: a process that is over one is ended, whatever its code does, and no other."""

import os
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace as Object

import psutil
import pytest
from billiard.einfo import ExceptionInfo
from billiard.exceptions import WorkerLostError

from jobs.engine.upkeep.recover import Death, Kill
from jobs.worker.children import kills, limits
from jobs.worker.children.delivery import AttemptRequest
from jobs.worker.children.limits import Limits, memory_of
from tests.integration.processes.conftest import HOUR
from tests.integration.processes.pool import is_gone
from tests.waiting import wait_until

CEILING = 60  # MiB, well above a bare Python
OVER = -1.0  # seconds from now


@pytest.fixture
def pool(table) -> Callable[..., Limits]:
    """The limits of a pool of these processes."""
    return lambda *pids: Limits(table, threading.Event(), Object(pids=lambda: pids))


@pytest.fixture
def look(pool) -> Callable[..., Limits]:
    """Two looks at a pool of these processes: the first one kills nothing."""

    def look(*pids: int) -> Limits:
        limits = pool(*pids)
        limits.look()
        assert [kills.kills_of(pid) for pid in pids] == [()] * len(pids)
        limits.look()
        return limits

    return look


class TestTime:
    def test_a_process_that_is_over_its_time_is_killed_and_one_that_is_not_lives(self, start, lay, look):
        late, early = start(), start()
        lay(0, late, 7, OVER)
        lay(1, early, 8)
        look(late, early)
        wait_until(lambda: is_gone(late), "the late one is killed")
        assert not is_gone(early)
        assert kills.kills_of(late) == (Kill(late, 7, 1, None),)
        assert kills.kills_of(early) == ()

    def test_a_process_whose_body_was_silent_for_too_long_is_killed_and_one_that_has_told_something_lives(
        self, start, table, look, settings
    ):
        silent, tells = start(), start()
        for index, (pid, seconds) in enumerate([(silent, 61), (tells, 59)]):
            entry = table.take_entry(index, pid)
            entry.hold(7 + index, 1)
            entry.limit(HOUR, 0, 60)
            entry.hear(time.monotonic() - seconds - settings.JOBS_TIMEOUT_GRACE)
        look(silent, tells)
        wait_until(lambda: is_gone(silent), "the silent one is killed")
        assert not is_gone(tells)
        assert kills.kills_of(silent) == (Kill(silent, 7, 1, "silent for 60 s"),)

    def test_the_children_of_a_late_process_end_with_it(self, start, lay, look):
        late = start(below=1)
        (below,) = psutil.Process(late).children()
        lay(0, late, 7, OVER)
        look(late)
        wait_until(lambda: not below.is_running() or below.status() == psutil.STATUS_ZOMBIE, "it is killed too")

    def test_a_number_that_is_no_process_of_the_pool_is_left_alone(self, start, lay, look):
        """A dead process cannot clear its place, and somebody else may have its number by now."""
        stranger, own = start(), start()
        lay(0, stranger, 7, OVER)
        lay(1, own, 8, OVER)
        look(own)
        wait_until(lambda: is_gone(own), "the look is over")
        assert not is_gone(stranger)

    def test_no_more_kills_are_remembered_than_processes_may_be(self, monkeypatch):
        monkeypatch.setattr(kills, "end", lambda pid: None)
        for pid in range(2**23, 2**23 + 1025):
            kills.kill(Kill(pid, 1, 1, None))
        assert kills.kills_of(2**23) == ()
        assert kills.kills_of(2**23 + 1024)

    def test_a_process_that_has_died_is_told_once_also_while_celery_waits_for_its_broker(self, start, lay, pool):
        dead = start()
        lay(0, dead, 7)
        looks = pool(dead)
        psutil.Process(dead).kill()
        wait_until(lambda: is_gone(dead), "it is gone")
        looks.look()
        looks.look()
        assert kills.deaths.get_nowait() == Death(dead, 7, 1, "its process was ended by SIGKILL")
        assert kills.deaths.empty()

    def test_a_killed_process_is_reported_with_the_reason(self, start, lay, look):
        late = start()
        lay(0, late, 7, OVER)
        looks = look(late)
        wait_until(lambda: is_gone(late), "it is killed")
        looks.look()
        assert kills.deaths.get_nowait().kills == (Kill(late, 7, 1, None),)
        looks.look()
        assert kills.deaths.empty()

    def test_each_attempt_that_exceeds_its_limit_in_one_process_is_remembered(self, monkeypatch):
        monkeypatch.setattr(kills, "end", lambda pid: None)
        late = tuple(Kill(2**23, job, 1, None) for job in (7, 8))
        for kill in late:
            kills.kill(kill)
        assert [kills.is_killed(2**23, job, 1) for job in (7, 8, 9)] == [True, True, False]
        kills.report(2**23, 9, 1, "its process was ended by SIGKILL")
        assert kills.deaths.get_nowait().kills == late

    @pytest.mark.parametrize("next_job", [7, 8])
    def test_a_body_that_has_ended_at_the_second_look_lives_whatever_its_process_runs_then(
        self, start, lay, pool, next_job
    ):
        """The next one has a limit of its own, and may be the same attempt: its retry policy is asked."""
        late = start()
        lay(0, late, 7, OVER)
        looks = pool(late)
        looks.look()
        lay(0, late, next_job, OVER)
        looks.look()
        assert not is_gone(late)
        looks.look()
        wait_until(lambda: is_gone(late), "now it is over its limit at two looks")

    def test_a_body_that_ends_while_it_is_looked_at_has_ended(self, start, lay, pool, table, monkeypatch):
        late = start()
        lay(0, late, 7, OVER)
        looks = pool(late)
        looks.look()
        seen = [table.running(), []]
        monkeypatch.setattr(table, "running", lambda: seen.pop(0))
        looks.look()
        assert not is_gone(late)
        assert seen == []


class TestMemory:
    def test_a_process_above_its_ceiling_is_killed_and_one_below_is_not(self, start, lay, look):
        small, large = start(1), start(2 * CEILING)
        lay(0, small, 1, memory=CEILING)
        lay(1, large, 2, memory=CEILING)
        look(small, large)
        wait_until(lambda: is_gone(large), "the large one is killed")
        assert not is_gone(small)
        (kill,) = kills.kills_of(large)
        assert (kill.job_id, kill.attempt, kill.reason.error_class) == (2, 1, "MemoryExceeded")
        assert kill.reason.error.endswith(f"MiB of memory; {CEILING} MiB are allowed")
        assert int(kill.reason.error.split()[1]) > CEILING

    def test_the_memory_of_children_counts(self, start, lay, look):
        large = start(1, below=2 * CEILING)
        lay(0, large, memory=CEILING)
        look(large)
        wait_until(lambda: is_gone(large), "it is killed")

    def test_without_a_ceiling_it_may_grow(self, start, lay, look):
        large = start(2 * CEILING)
        lay(0, large)
        look(large)
        assert not is_gone(large)

    def test_a_process_that_is_gone_takes_none(self):
        assert memory_of(2**22 + 1) == 0  # no pid of Linux is so large


def test_the_limits_look_again_and_again_in_a_thread(start, lay, table, monkeypatch):
    monkeypatch.setattr(limits, "LOOK_INTERVAL", 0.01)
    late, stop = start(), threading.Event()
    progress = limits.Progress()
    thread = threading.Thread(target=Limits(table, stop, Object(pids=lambda: [late])).run, args=(progress,))
    thread.start()
    wait_until(lambda: progress.rounds > 2, "it looks")
    lay(0, late, 7, OVER)
    wait_until(lambda: is_gone(late), "it is killed")
    stop.set()
    thread.join()


class TestTheMessage:
    """What the worker's parent process makes of its end; Celery's own part of it is left out."""

    @pytest.fixture
    def lost(self, monkeypatch):
        """The message of this job is lost with the process that has it."""
        from celery.worker.request import Request

        monkeypatch.setattr(Request, "on_failure", lambda self, *_, **__: None)

        def lost(job_id: int, pid: int | None, error: BaseException) -> Death:
            request = object.__new__(AttemptRequest)
            request._args = (job_id, 3, 5.0, None)
            request.worker_pid = pid
            try:
                raise error
            except BaseException:
                request.on_failure(ExceptionInfo())
            return kills.deaths.get_nowait()

        return lost

    def test_the_process_and_why_it_was_ended_are_told(self, lost, start, lay, look):
        large, other = start(2 * CEILING), start()
        lay(0, large, 1, memory=CEILING)
        look(large)
        told = lost(1, large, WorkerLostError("signal 9 (SIGKILL)"))
        assert (told.pid, told.job_id, told.attempt) == (large, 1, 3)
        assert told.kills[0].reason.error_class == "MemoryExceeded"
        told = lost(2, other, WorkerLostError("signal 9 (SIGKILL)"))
        assert (told.kills, told.error) == ((), "signal 9 (SIGKILL)")
        assert lost(3, start(), KeyboardInterrupt()).error == "KeyboardInterrupt"  # an error without a text

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
        assert lost(1, None, RuntimeError("never taken up")) == Death(0, 1, 3, "never taken up")


def test_an_attempt_whose_body_does_not_begin_is_told_of_once(table, pool, monkeypatch, caplog):
    """As behind a pooler that has no session left."""
    entry = table.take_entry(0, os.getpid())
    entry.hold(7, 1)
    watched = pool()
    watched.look()
    monkeypatch.setattr(limits, "LONG_WAIT", -1.0)
    watched.look()
    watched.look()
    assert caplog.text.count("attempt waits for the database or the cache job=7 attempt=1") == 1
    entry.limit(60, 0)
    watched.look()
    entry.lift_limit()
    watched.look()
    assert caplog.text.count("attempt waits") == 2, "another wait, after the body"
