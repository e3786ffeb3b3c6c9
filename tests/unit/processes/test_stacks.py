"""The stack of a process is told whatever its code does, and nothing but files, lines and functions."""

import asyncio
import multiprocessing
import os
import re
import signal
import threading
import time
from collections.abc import Callable

import pytest

from jobs.engine.process.stacks import MOST, of_tasks, until_engine
from jobs.worker.children import stacks
from tests.integration.processes.pool import is_gone

LONG = 3600.0  # seconds
SECRET = "sesame-opens"


def sleep_in_c(began: Callable[[], object]) -> None:
    password = SECRET
    began()
    time.sleep(LONG + len(password))


def wait_for_a_lock(began: Callable[[], object]) -> None:
    lock = threading.Lock()
    lock.acquire()
    began()
    lock.acquire()


def keep_the_interpreter(began: Callable[[], object]) -> None:
    began()
    sum(range(10**15))


def take_the_signal(began: Callable[[], object]) -> None:
    signal.signal(stacks.SIGNAL, signal.SIG_DFL)
    began()
    time.sleep(LONG)


def block_the_signal(began: Callable[[], object]) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [stacks.SIGNAL])
    began()
    time.sleep(LONG)


def recurse(began: Callable[[], object], depth: int = 0) -> None:
    if depth < 900:
        recurse(began, depth + 1)
    began()
    time.sleep(LONG)


def run_a_loop(began: Callable[[], object]) -> None:
    async def ask_a_partner() -> None:
        await asyncio.sleep(LONG)

    async def gather() -> None:
        parts = [asyncio.create_task(ask_a_partner(), name=f"part {n}") for n in range(2)]
        await asyncio.sleep(0)
        began()
        await asyncio.gather(*parts)

    asyncio.run(gather())


@pytest.fixture
def started():
    """Start a process that runs this code, as one of a pool; wait until it does, and return its pid."""
    forked, processes = multiprocessing.get_context("fork"), []

    def started(code: Callable[..., None]) -> int:
        has_begun = forked.Event()

        def serve() -> None:
            stacks.leave_to_main_thread()
            threading.Thread(target=time.sleep, args=[LONG], daemon=True).start()
            stacks.listen()
            code(has_begun.set)

        processes.append(forked.Process(target=serve, daemon=True))
        processes[-1].start()
        assert has_begun.wait(10)
        return processes[-1].pid

    yield started
    for process in processes:
        process.kill()
        process.join()


@pytest.mark.parametrize("code", [sleep_in_c, wait_for_a_lock, keep_the_interpreter, recurse])
def test_a_body_that_hangs_in_c_tells_where_and_no_values(started, code):
    first, second = started(code), started(sleep_in_c)
    told = stacks.ask(first)
    lines = told.splitlines()
    assert re.fullmatch(
        rf'  File "{re.escape(__file__)}", line \d+ in {code.__name__}',
        next(line for line in lines if __file__ in line),
    )
    assert all(re.fullmatch(r'  File "[^"]+", line \d+ in \S+|  \.\.\.', line) for line in lines)
    assert len(told) <= MOST
    assert SECRET not in told
    assert "in sleep_in_c" in stacks.ask(second), "the next answer is of the next process alone"
    assert code is sleep_in_c or f"in {code.__name__}" not in stacks.ask(second)
    assert not is_gone(first)


def test_the_coroutines_of_a_loop_tell_what_they_wait_for(started):
    told = stacks.ask(started(run_a_loop))
    assert re.search(r"^Task part 0\n  File .* in sleep\n  File .* in ask_a_partner\nTask part 1\n", told, re.MULTILINE)


@pytest.mark.parametrize("code", [take_the_signal, block_the_signal])
def test_a_process_that_does_not_answer_lives_on_and_no_other_thread_of_it_answers(started, monkeypatch, code):
    monkeypatch.setattr(stacks, "PATIENCE", 0.1)
    pid = started(code)
    assert stacks.ask(pid) == ""
    assert not is_gone(pid)
    assert stacks.ask(2**22 + 1) == "", "nor does one that is gone"


def test_after_a_body_has_taken_the_signal_the_process_listens_again(monkeypatch):
    monkeypatch.setattr(stacks, "PATIENCE", 5)
    stacks.listen()
    signal.signal(stacks.SIGNAL, signal.SIG_IGN)
    stacks.listen()
    assert "in test_after_a_body_has_taken_the_signal" in stacks.ask(os.getpid())


def test_frames_of_the_engine_that_called_the_body_are_left_out():
    body = ['  File "/srv/app.py", line 3 in work']
    engine = ['  File "/srv/jobs/engine/attempt/body.py", line 185 in _call', '  File "/srv/celery.py", line 9 in loop']
    asks = ['  File "/srv/jobs/engine/attempt/body.py", line 230 in _results_of']
    assert until_engine([*asks, *body, *engine]) == [*asks, *body]


def test_an_asynchronous_generator_and_what_waits_in_it_are_told():
    async def rows():
        await asyncio.sleep(LONG)
        yield 1

    async def read():
        async for _ in rows():
            pass

    async def look() -> str:
        task = asyncio.create_task(read(), name="reader")
        await asyncio.sleep(0)
        found = of_tasks([task])
        task.cancel()
        return found

    told = asyncio.run(look())
    assert [line.rpartition(" in ")[2] for line in told.splitlines()] == ["Task reader", "sleep", "rows", "read"]
