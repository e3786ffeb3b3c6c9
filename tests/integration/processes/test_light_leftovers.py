"""What a body of a light process leaves behind ends in its own context, and reaches no call of another tenant."""

import asyncio
import gc
import threading
from contextlib import suppress
from contextvars import copy_context
from weakref import ref

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, transaction
from psycopg.pq import TransactionStatus

from jobs import Retry, current_job, in_thread
from jobs.engine.process import user_code
from tests.chaos.freezing import backends
from tests.integration.processes.light_seats import answer
from tests.sample.models import Run
from tests.sql import sql, value
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
LONG = 3600.0  # seconds


class TestGenerators:
    def test_a_generator_that_another_body_collects_ends_in_its_own_context(self, here, begin):
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

        gc.disable()  # else any thread may collect it
        try:
            mine, yours = begin(drop, collect)
            assert answer(here, yours) is None
            assert answer(here, mine) == mine
        finally:
            gc.enable()
        assert seen == [(mine, 0)]

    def test_a_generator_that_a_left_task_runs_ends_with_the_task(self, here, begin, caplog):
        ends = []

        async def rows():
            try:
                yield await asyncio.sleep(LONG)
            finally:
                await asyncio.sleep(0.05)
                ends.append(current_job().id)

        async def poll():
            async for _ in rows():
                pass

        async def leave(self):
            self.task = asyncio.create_task(poll())
            await asyncio.sleep(0)

        (left,) = begin(leave)
        assert answer(here, left) is None
        gc.collect()
        assert ends == [left]
        told = [one.event for one in caplog.records if one.levelname != "INFO" and one.facts["job"] == left]
        assert told == ["tasks cancelled: their body has ended"]

    def test_a_generator_that_an_error_holds_ends_with_its_body(self, here, begin):
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

    def test_a_generator_that_does_not_close_drains_the_process(self, here, begin, impatient):
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
        wait_until(lambda: not backends("query LIKE '%%pg_sleep(3600)' AND state = 'active'"), "it is gone")


class TestTransactions:
    @pytest.mark.filterwarnings("ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning")  # its end fails
    def test_a_transaction_left_in_a_generator_ends_nothing_of_who_collects_it(self, here, begin):
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

    def test_rows_that_are_read_in_parts_are_all_there_whatever_others_do_in_the_session(self, here, begin):
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


class TestMemory:
    def test_a_result_is_not_kept_in_memory_after_its_end(self, here, begin):
        async def fill(self):
            await asyncio.create_task(Run.objects.acount())
            async for _ in Run.objects.all():
                pass
            return ["x" * 1000]

        gc.collect()
        gc.disable()
        try:
            [filled] = begin(fill)
            answer(here, filled)
            kept = [ref(attempt) for attempt in here.ended]
            here.ended.clear()
            wait_until(lambda: not any(one() for one in kept), "it is let go", limit=5)
        finally:
            gc.enable()
