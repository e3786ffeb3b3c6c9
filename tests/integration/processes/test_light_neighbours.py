"""A body in a light process does its worst: its neighbours, perhaps of other tenants, do not notice it."""

import asyncio
import gc
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from jobs import Retry, current_job
from jobs.engine.light import rest
from jobs.engine.light.environment import Environment
from jobs.models import Job
from tests.integration.processes.light_seats import THREADS, answer, listened_by_context
from tests.sample.models import Run
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
LONG = 3600.0  # seconds


class TestTasks:
    def test_a_body_that_cancels_all_tasks_of_the_loop_ends_alone(self, here, begin, caplog):
        ready, go_on = asyncio.Event(), asyncio.Event()

        async def wait(self):
            ready.set()
            await go_on.wait()
            return "a result that is kept by a thread"

        async def cancel_all(self):
            await ready.wait()
            for task in asyncio.all_tasks():
                task.cancel()
            go_on.set()
            await asyncio.sleep(LONG)

        neighbour, guilty = begin(wait, cancel_all)
        assert answer(here, neighbour) == "a result that is kept by a thread"
        assert isinstance(here.outcome(guilty).error, asyncio.CancelledError)
        told = [one.facts["job"] for one in caplog.records if one.event == "a body cannot cancel the tasks of others"]
        assert set(told) == {guilty}

    def test_a_body_that_gathers_all_tasks_takes_none_along_at_its_limit(self, here, begin, impatient, settings):
        settings.JOBS_TIMEOUT_GRACE = 0.1
        ready, go_on = asyncio.Event(), asyncio.Event()

        async def wait(self):
            ready.set()
            await go_on.wait()

        async def gather_all(self):
            await ready.wait()
            await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))

        (neighbour,), (guilty,) = begin(wait), begin(gather_all, timeout=0.3)
        wait_until(lambda: here.stuck, "it waits on, and its process drains")
        here.on_loop(go_on.set)
        assert answer(here, neighbour) is None
        assert isinstance(here.outcome(guilty).error, TimeoutError)

    def test_the_end_of_an_attempt_cannot_be_cancelled_by_others(self, here, begin):
        hangs, ended = threading.Event(), []

        def policy(error, retries):
            ended.append(error)
            hangs.wait(20)

        async def fail(self):
            raise ValueError

        async def cancel_all(self):
            while not ended:
                await asyncio.sleep(0.01)
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()

        failed, guilty = begin(fail, cancel_all, retry=Retry.custom(policy, max_retries=1))
        assert answer(here, guilty) is None
        hangs.set()
        assert isinstance(here.outcome(failed).error, ValueError)
        assert Job.objects.get(pk=failed).status == "dead"

    def test_a_failure_of_a_task_that_asyncio_tells_is_in_the_log_of_its_own_job(self, here, begin):
        kept, dropped = [], asyncio.Event()

        async def fail() -> None:
            raise ValueError("a secret")

        async def leave(self):
            kept.append(asyncio.create_task(fail()))
            await dropped.wait()

        async def collect(self):
            while not (kept and kept[0].done()):
                await asyncio.sleep(0)
            kept.clear()
            gc.collect()
            dropped.set()

        with listened_by_context():
            mine, yours = (here.outcome(one).log.text() for one in begin(leave, collect, log=True))
        assert "ValueError: a secret" in mine
        assert yours == ""


class TestTheProcess:
    def test_calls_that_take_all_other_threads_hold_up_no_query_and_no_end(self, here, begin):
        go_on = threading.Event()

        async def block(self):
            await asyncio.to_thread(go_on.wait, 60)

        async def ask(self):
            return await Run.objects.acount()

        async def fail(self):
            raise ValueError("no")

        *blocked, asks, fails = begin(*[block] * (THREADS + 1), ask, fail)
        assert answer(here, asks) == 0
        assert isinstance(here.outcome(fails).error, ValueError)
        assert len(here.ended) == 2
        go_on.set()
        assert [answer(here, one) for one in blocked] == [None] * (THREADS + 1)

    def test_a_subprocess_that_a_cancelled_body_waits_for_may_be_ended_by_it(self, here, begin):
        pids, cleaned = [], []

        async def wait(self):
            process = await asyncio.create_subprocess_exec("sleep", "3600", stdout=asyncio.subprocess.PIPE)
            pids.append(process.pid)
            try:
                await process.wait()
            finally:
                process.kill()
                cleaned.append(await process.wait())

        async def echo(self):
            process = await asyncio.create_subprocess_exec("echo", "neighbour", stdout=asyncio.subprocess.PIPE)
            return (await process.communicate())[0].decode()

        waits, echoes = begin(wait, echo)
        assert answer(here, echoes) == "neighbour\n"
        wait_until(lambda: pids, "it waits")
        here.on_loop(here.seats.cancel, [(waits, 1)])
        assert type(here.outcome(waits).error).__name__ == "Cancelled"
        assert cleaned == [-signal.SIGKILL]

    def test_a_body_can_set_no_handler_of_a_signal(self, here, begin):
        async def by_signal(self):
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)

        async def by_loop(self):
            asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, print)

        before = signal.getsignal(signal.SIGUSR1)
        for one in begin(by_signal, by_loop):
            assert isinstance(here.outcome(one).error, ValueError | RuntimeError)
        assert signal.getsignal(signal.SIGUSR1) is before

    @pytest.mark.parametrize(
        "change",
        [
            lambda loop: loop.close(),
            lambda loop: loop.set_default_executor(ThreadPoolExecutor(1)),
            lambda loop: loop.set_task_factory(None),
            lambda loop: loop.set_exception_handler(None),
            lambda loop: asyncio.shield(loop.shutdown_default_executor()),
        ],
        ids=["close", "threads", "tasks", "errors", "no threads"],
    )
    def test_a_body_cannot_change_the_loop_of_others(self, change, here, begin):
        async def change_it(self):
            if (asked := change(asyncio.get_running_loop())) is not None:
                await asked

        async def neighbour(self):
            task = asyncio.create_task(asyncio.to_thread(current_job))
            return (await task).id

        (changing,) = begin(change_it)
        assert isinstance(here.outcome(changing).error, RuntimeError)
        (other,) = begin(neighbour)
        assert answer(here, other) == other
        assert isinstance(here.loop._default_executor, rest.OtherThreads)
        assert here.loop.get_task_factory() is rest.make_task
        assert here.loop.get_exception_handler() is rest.tell

    def test_a_changed_environment_is_told_once_by_its_names(self, monkeypatch, caplog):
        environment = Environment()
        environment.warn_if_changed()
        monkeypatch.setenv("SHOP_TENANT", "a secret")
        monkeypatch.delenv("PATH")
        environment.warn_if_changed()
        environment.warn_if_changed()
        [told] = caplog.records
        assert (told.event, told.facts["names"]) == (
            "a body has changed the environment of all others",
            "PATH SHOP_TENANT",
        )
        assert told.facts["pid"] == os.getpid()
