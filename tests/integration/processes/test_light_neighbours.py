"""A body in a light process does its worst: its neighbours, perhaps of other tenants, do not notice it."""

import asyncio
import gc
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, transaction
from psycopg.pq import TransactionStatus

from jobs import Retry, current_job, in_thread, job
from jobs.engine.light import rest
from jobs.engine.light.environment import Environment
from jobs.engine.process import user_code
from jobs.models import Job
from tests.factories import TenantFactory, ThingFactory
from tests.integration.processes.light_seats import SeatsHere, listened_by_context
from tests.sample.models import Run, Thing
from tests.sql import sql, value
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
LONG = 3600.0  # seconds


@pytest.fixture
def here(register):
    here = SeatsHere(register())
    yield here
    here.close()


@pytest.fixture
def begin(here, sent, monkeypatch):
    """Begin these bodies, each as a job of a tenant of its own: their numbers."""

    of_things = {}

    async def echo(self):
        return await of_things[self.pk](self)

    def begin(*bodies, **options) -> list[int]:
        monkeypatch.setattr(Thing, "echo", job(dedup=False, **options)(echo))
        ids = []
        for body in bodies:
            thing = ThingFactory(tenant=TenantFactory())
            of_things[thing.pk] = body
            ids.append(thing.async_.echo())
        here.begin(*ids)
        return ids

    return begin


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(rest, "CANCEL_PATIENCE", 0.2)


def answer(here, job_id: int) -> object:
    outcome = here.outcome(job_id)
    assert outcome.error is None, repr(outcome.error)
    return outcome.value


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
        go_on = asyncio.Event()

        async def wait(self):
            await go_on.wait()

        async def gather_all(self):
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

    def test_what_asyncio_tells_of_a_task_is_in_the_log_of_its_own_job(self, here, begin):
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


class TestGenerators:
    def test_one_that_another_body_collects_ends_in_its_own_context(self, here, begin):
        seen, dropped, ready = [], asyncio.Event(), asyncio.Event()

        async def rows():
            try:
                yield 1
            finally:
                seen.append((current_job().id, await Run.objects.acount()))

        async def drop(self):
            ring = [rows()]
            await anext(ring[0])
            ring.append(ring)
            del ring
            ready.set()
            await dropped.wait()
            return current_job().id

        async def collect(self):
            await ready.wait()
            gc.collect()
            dropped.set()

        gc.collect()
        mine, yours = begin(drop, collect)
        assert answer(here, yours) is None
        assert answer(here, mine) == mine
        assert seen == [(mine, 0)]

    def test_one_that_an_error_holds_ends_with_its_body(self, here, begin):
        seen = []

        def rows():
            try:
                yield 1
            finally:
                seen.append(current_job().id)

        async def fail(self):
            left = rows()
            next(left)
            raise ValueError

        (failed,) = begin(fail)
        error = here.outcome(failed).error
        assert isinstance(error, ValueError)
        assert seen == [failed]

    def test_one_that_does_not_close_drains_the_process(self, here, begin, impatient):
        kept = []

        async def rows():
            try:
                yield 1
            finally:
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(1)

        async def leave(self):
            kept.append(rows())
            await anext(kept[0])

        (left,) = begin(leave)
        assert answer(here, left) is None
        assert [attempt.job.id for attempt in here.stuck] == [left]


class TestCalls:
    def test_policies_that_hang_hold_up_no_result_and_no_loop(self, here, begin, monkeypatch):
        hangs = threading.Event()

        async def fail(self):
            raise ValueError

        async def succeed(self):
            return "kept"

        bodies = [fail] * 8 + [succeed]
        *failed, good = begin(*bodies, retry=Retry.custom(lambda *_: hangs.wait(30), max_retries=1))
        assert answer(here, good) == "kept"
        assert not here.ended[:-1]
        monkeypatch.setattr(user_code, "ANSWER_SECONDS", 0.01)
        hangs.set()
        assert {type(here.outcome(one).error) for one in failed} == {ValueError}

    def test_a_call_in_the_default_executor_is_ended_with_its_body(self, here, begin, impatient):
        go_on, seen = threading.Event(), []

        async def leave(self):
            loop = asyncio.get_running_loop()
            loop.run_in_executor(None, lambda: go_on.wait(30) and seen.append(True))
            await asyncio.sleep(0)

        (left,) = begin(leave)
        wait_until(lambda: here.stuck, "it is told")
        assert answer(here, left) is None
        go_on.set()

    def test_a_loop_in_a_thread_that_asks_the_database_ends_at_the_limit(self, here, begin):
        """Its call waits for the thread that waits for it."""

        async def nest(self):
            await in_thread(lambda: asyncio.run(Run.objects.acount()))

        async def ask(self):
            return await Run.objects.acount()

        (nested,) = begin(nest, timeout=0.3)
        assert isinstance(here.outcome(nested).error, TimeoutError)
        (other,) = begin(ask)
        assert answer(here, other) == 0
        assert not here.stuck

    def test_a_query_of_a_cancelled_task_is_not_cut_off_while_it_cleans_up(self, here, begin):
        seen = []

        async def poll():
            try:
                await asyncio.sleep(LONG)
            finally:
                await in_thread(sql, "SELECT pg_sleep(0.2)")
                seen.append(await in_thread(value, "SELECT 7"))

        async def leave(self):
            self.task = asyncio.create_task(poll())
            await asyncio.sleep(0)

        (left,) = begin(leave)
        assert answer(here, left) is None
        assert seen == [7]

    def test_a_call_that_nobody_awaits_is_cancelled_on_the_server(self, here, begin):
        kept = []

        async def leave(self):
            kept.append(sync_to_async(sql)("SELECT pg_sleep(3600)"))
            with suppress(StopIteration):
                kept[0].send(None)

        (left,) = begin(leave)
        assert answer(here, left) is None
        copy_context().run(kept[0].close)  # asgiref would set the variables of its context here
        active = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%%pg_sleep(3600)' AND state = 'active'"
        wait_until(lambda: value(active) == 0, "it is gone")


class TestTransactions:
    @pytest.mark.filterwarnings("ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning")  # its end fails
    def test_one_left_in_a_generator_ends_nothing_of_who_collects_it(self, here, begin):
        kept = []

        def rows():
            with transaction.atomic():
                yield from range(10)

        def open_one() -> None:
            kept.append(rows())
            next(kept[0])

        @transaction.atomic
        def write() -> int:
            Run.objects.create(job_id=1, attempt=0, pid=0)
            kept.clear()
            gc.collect()
            Run.objects.create(job_id=2, attempt=0, pid=0)
            transaction.set_rollback(True)
            return connection.connection.info.transaction_status

        async def leave(self):
            await in_thread(open_one)

        async def collect(self):
            return await in_thread(write)

        (left,) = begin(leave)
        assert answer(here, left) is None
        (collects,) = begin(collect)
        assert answer(here, collects) == TransactionStatus.INTRANS
        assert not Run.objects.exists()

    def test_rows_that_come_in_parts_come_whatever_others_do_in_the_session(self, here, begin):
        Run.objects.bulk_create(Run(job_id=n, attempt=0, pid=0) for n in range(30))

        async def read(self):
            found = []
            async for run in Run.objects.order_by("job_id").aiterator(chunk_size=3):
                found.append(run.job_id)
                await asyncio.sleep(0)
            return found

        @transaction.atomic
        def write(number: int) -> None:
            Run.objects.create(job_id=number, attempt=1, pid=0)
            Run.objects.filter(job_id=number, attempt=1).delete()

        async def change(self):
            for number in range(100, 120):
                await in_thread(write, number)

        *reads, changes = begin(read, read, change)
        for one in reads:
            assert [number for number in answer(here, one) if number < 100] == [*range(30)]
        assert answer(here, changes) is None


class TestTheProcess:
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
        assert (told.event, told.facts["names"]) == ("a body has changed the environment of all others", "PATH SHOP_TENANT")
        assert told.facts["pid"] == os.getpid()
