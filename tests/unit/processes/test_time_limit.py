"""The time limit is a signal: it hits the body, and nothing else."""

import asyncio
import math
import os
import signal
import threading
from contextlib import suppress
from types import SimpleNamespace

import pytest
from celery.exceptions import SoftTimeLimitExceeded

from jobs.worker.children import time_limit
from jobs.worker.children.entry import OwnEntry
from jobs.worker.children.running_table import RunningTable
from jobs.worker.children.time_limit import Timer

LONG, OVER = 3600.0, 1e-6  # seconds


@pytest.fixture(autouse=True)
def as_it_was():
    before = signal.getsignal(signal.SIGALRM)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def table() -> RunningTable:
    return RunningTable(1)


@pytest.fixture
def entry(table) -> OwnEntry:
    return table.take_entry(0, os.getpid())


@pytest.fixture
def timer(entry) -> Timer:
    return Timer(entry)


def job(memory: int | None = None) -> SimpleNamespace:
    return SimpleNamespace(id=7, attempt=2, memory=memory)


def ring() -> None:
    os.kill(os.getpid(), signal.SIGALRM)


def test_armed_the_signal_interrupts_what_runs(timer):
    timer.arm(job(), LONG)
    with pytest.raises(SoftTimeLimitExceeded):
        ring()


def test_only_the_timer_says_that_time_is_up_and_nobody_else_who_raises_celerys_exception(timer):
    assert issubclass(timer.time_is_up, SoftTimeLimitExceeded)
    assert not isinstance(SoftTimeLimitExceeded(), timer.time_is_up)


def test_the_signal_comes_by_itself_when_time_is_up(timer):
    with pytest.raises(SoftTimeLimitExceeded):
        timer.arm(job(), OVER)
        signal.pause()


def test_disarmed_the_signal_is_ignored(timer):
    timer.arm(job(), LONG)
    timer.disarm()
    ring()
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_the_limit_can_be_armed_again_after_any_change_to_the_signal(timer):
    timer.arm(job(), LONG)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    timer.disarm()
    timer.arm(job(), LONG)
    with pytest.raises(SoftTimeLimitExceeded):
        ring()


def test_a_body_that_ends_within_its_time_has_not_overrun_however_late_the_signal(timer, monkeypatch):
    timer.arm(job(), LONG)
    timer.disarm()
    ring()
    monkeypatch.setattr(time_limit, "time", SimpleNamespace(monotonic=lambda: math.inf))
    timer.disarm()
    assert not timer.overran


def test_a_body_that_catches_the_interrupt_and_goes_on_has_overrun(timer):
    with suppress(SoftTimeLimitExceeded):
        timer.arm(job(), OVER)
        signal.pause()
    timer.disarm()
    timer.disarm()
    assert timer.overran
    timer.arm(job(), LONG)
    assert not timer.overran


def test_a_body_that_blocks_the_signal_has_overrun(timer):
    with suppress(SoftTimeLimitExceeded):  # it may come before the next line
        timer.arm(job(), OVER)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    timer.disarm()
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    assert timer.overran


class TestSilence:
    def test_a_body_that_tells_nothing_for_so_long_is_interrupted_and_what_it_tells_then_is_too_late(
        self, timer, table, entry
    ):
        entry.hold(7, 2)
        with pytest.raises(SoftTimeLimitExceeded):
            timer.arm(job(), LONG, OVER)
            signal.pause()
        before = table.running()
        timer.hear()
        assert table.running() == before, "the parent may kill it"
        timer.disarm()
        assert (timer.overran, timer.silent_for) == (True, OVER)
        timer.arm(job(), LONG)
        timer.disarm()
        assert (timer.overran, timer.silent_for) == (False, 0)

    def test_a_word_of_the_body_puts_it_off_but_not_the_time_limit(self, timer, monkeypatch):
        now = 100.0
        monkeypatch.setattr(time_limit, "time", SimpleNamespace(monotonic=lambda: now))
        timer.arm(job(), 300, 60)
        now += 59
        timer.hear()
        now += 59
        ring()
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 1
        for _ in range(3):
            timer.hear()
            now += 59
        ring()
        timer.hear()
        now += 10
        with pytest.raises(SoftTimeLimitExceeded):
            ring()
        timer.disarm()
        assert (timer.overran, timer.silent_for) == (True, 0)

    def test_a_body_that_blocks_the_signal_has_been_silent(self, timer):
        with suppress(SoftTimeLimitExceeded):  # it may come before the next line
            timer.arm(job(), LONG, OVER)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
        timer.disarm()
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
        assert (timer.overran, timer.silent_for) == (True, OVER)

    def test_the_parent_reads_when_the_body_told_something_last(self, timer, table, entry):
        entry.hold(7, 2)
        timer.arm(job(), LONG, 60)
        (begun,) = table.running()
        thread = threading.Thread(target=timer.hear)  # any thread of the body may tell
        thread.start()
        thread.join()
        (told,) = table.running()
        assert begun.silence == told.silence == 60
        assert told.heard > begun.heard
        assert told.version == begun.version
        timer.disarm()
        timer.hear()
        assert [one.heard for one in table.entries()] == [0]


def test_while_the_engine_works_for_the_body_it_waits(timer):
    timer.arm(job(), LONG)
    steps = []
    with pytest.raises(SoftTimeLimitExceeded), timer.deferred():
        ring()
        steps.append("the engine is through")
    assert steps


@pytest.fixture
def cancelled_by(timer):
    """Run a coroutine with a limit of 0.01 s that cancels it; how often it did."""

    def cancelled_by(made) -> int:
        with asyncio.Runner() as runner:
            task, times = runner.get_loop().create_task(made), []
            with timer.cancelling(runner.get_loop(), lambda: times.append(task.cancel())), suppress(BaseException):
                timer.arm(job(), 0.01)
                runner.get_loop().run_until_complete(task)
        return len(times)

    return cancelled_by


def test_a_coroutine_is_cancelled_by_its_loop(cancelled_by, timer):
    assert cancelled_by(asyncio.sleep(LONG)) == 1
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    with pytest.raises(SoftTimeLimitExceeded):  # a function that comes next is interrupted
        ring()


def test_a_cancel_waits_while_the_engine_works_for_the_coroutine(cancelled_by, timer):
    steps = []

    async def report() -> None:
        with timer.deferred():
            signal.pause()
            steps.append("the engine is through")
        await asyncio.sleep(LONG)

    assert cancelled_by(report()) == 1
    assert steps


def test_a_coroutine_that_blocks_its_loop_is_interrupted_as_a_function_is(cancelled_by, timer, monkeypatch):
    monkeypatch.setattr(time_limit, "DEAF", OVER)
    steps = []

    async def block() -> None:
        try:
            while True:
                signal.pause()
        except SoftTimeLimitExceeded:
            steps.append("interrupted")
        await asyncio.sleep(LONG)

    assert cancelled_by(block()) == 1, "and cancelled if it goes on"
    assert steps


def test_a_thread_of_the_body_puts_nothing_off(timer):
    timer.arm(job(), LONG)
    inside, leave = threading.Event(), threading.Event()

    def work() -> None:
        with timer.deferred():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait()
    with pytest.raises(SoftTimeLimitExceeded):
        ring()
    leave.set()
    thread.join()


def test_the_parent_reads_who_runs_what_until_when_and_with_how_much(timer, table, entry, settings):
    settings.JOBS_DEFAULT_MEMORY = 100
    entry.hold(7, 2)
    timer.arm(job(), LONG)
    (running,) = table.running()
    assert (running.pid, running.job_id, running.attempt, running.memory) == (os.getpid(), 7, 2, 100)
    timer.arm(job(memory=50), LONG)
    assert table.running()[0].memory == 50
    timer.disarm()
    assert table.running() == []
    (held,) = table.entries()
    assert (held.job_id, held.attempt, held.runs) == (7, 2, False)
