"""Bodies that are coroutines: their sessions, their end, their time limit, and what they leave behind."""

import asyncio
import gc
import os
import signal
import threading
import time
from contextlib import contextmanager

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, transaction
from django.utils import translation

from jobs import async_, current_job, in_thread, job
from jobs.engine.attempt import coroutines
from jobs.engine.attempt.execute import execute
from jobs.engine.verbs.cancel import cancel
from jobs.models import FailedAttempt, Job
from jobs.store import results
from jobs.worker.children import time_limit
from jobs.worker.children.running_table import RunningTable
from jobs.worker.children.time_limit import Timer
from tests.attempts import changed
from tests.factories import ThingFactory
from tests.sample.models import Run, Thing
from tests.sql import sql, value

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]
CANCELLED = "tasks cancelled: their body has ended"
ENDS = "process ends: what a body has started still runs"
LONG = 3600.0  # seconds


@pytest.fixture
def serve(host, sent, monkeypatch):
    """Run this body as a job of a tenant of its own; whether its process may go on, and the job as it ended."""

    def serve(body, host=host, **options) -> tuple[bool, Job]:
        monkeypatch.setattr(Thing, "echo", job(dedup=False, **options)(body))
        job_id = ThingFactory().async_.echo()
        return execute(job_id, 1, host), Job.objects.get(pk=job_id)

    return serve


@pytest.fixture
def over(serve, host):
    """Run this body with a worker's timer and a limit of 0.2 s; pytest runs in the main thread, as bodies do."""
    before = signal.getsignal(signal.SIGALRM)
    timed = changed(host, limit=Timer(RunningTable(1).take_entry(0, os.getpid())))
    yield lambda body: serve(body, host=timed, timeout=0.2)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(coroutines, "CANCEL_PATIENCE", 0.1)
    yield
    coroutines._kept.clear()


def backend() -> int:
    connection.ensure_connection()
    return connection.connection.info.backend_pid


def answer(ended: Job) -> object:
    assert ended.status == "success", ended.last_error
    return results.load(ended).value


@contextmanager
def around(running):
    with transaction.atomic():
        sql("SELECT set_config('app.around', %s, true)", [str(running.tenant.pk)])
        yield


class TestTheBody:
    def test_a_coroutine_runs_with_its_arguments_and_its_result_is_kept(self, host, sent, monkeypatch):
        async def add(self, value, *, times=1):
            await asyncio.sleep(0)
            return [self.pk, value * times]

        thing = ThingFactory()
        monkeypatch.setattr(Thing, "echo", job(add))
        job_id = thing.async_.echo("ab", times=2)
        assert execute(job_id, 1, host)
        assert answer(Job.objects.get(pk=job_id)) == [thing.pk, "abab"]

    def test_the_orm_that_it_awaits_uses_the_session_of_the_body_inside_the_context_of_the_project(
        self, serve, settings
    ):
        settings.JOBS_AROUND = f"{__name__}.around"
        said = sync_to_async(lambda: value("SELECT current_setting('app.around', true)"))

        async def ask(self):
            one = asyncio.create_task(said())
            return [await said(), await one, await in_thread(backend)]

        goes_on, ended = serve(ask)
        tenant = str(ended.tenant_id)
        assert (goes_on, answer(ended)) == (True, [tenant, tenant, backend()])

    def test_a_body_of_another_tenant_meets_nothing_of_the_one_before_it(self, serve):
        async def leave(self):
            translation.activate("de")
            await in_thread(sql, "SELECT set_config('app.tenant', 'a stranger', false)")

        async def look(self):
            said = await in_thread(value, "SELECT coalesce(current_setting('app.tenant', true), '')")
            return [said, translation.get_language(), len(asyncio.all_tasks())]

        assert serve(leave)[0]
        assert answer(serve(look)[1]) == ["", translation.get_language(), 1]

    def test_a_whole_transaction_in_the_thread_is_rolled_back_by_its_error(self, serve):
        @transaction.atomic
        def write(number: int, *, fail: bool) -> int:
            Run.objects.create(job_id=number, attempt=0, pid=0)
            if fail:
                raise ValueError("no")
            return number

        async def body(self):
            with pytest.raises(ValueError, match="no"):
                await in_thread(write, 1, fail=True)
            return [await in_thread(write, 2, fail=False), await Run.objects.acount()]

        assert answer(serve(body)[1]) == [2, 1]

    def test_a_transaction_in_the_coroutine_itself_is_refused_with_the_remedy(self, serve):
        async def body(self):
            with transaction.atomic():
                pass

        ended = serve(body)[1]
        assert ended.last_error.startswith("SynchronousOnlyOperation")
        assert "await the ORM's own twins (aget, asave), and `in_thread(function)`" in ended.last_error

    def test_a_job_submitted_from_a_coroutine_is_its_tenants(self, serve):
        async def body(self):
            job_id = await async_(self.again).asubmit()
            many = await async_(self.again, dedup=False).amany([{}])
            with pytest.raises(Exception, match=r"In a coroutine: await async_\(again\)\.asubmit"):
                async_(self.again)()
            return [job_id, *many]

        _, ended = serve(body)
        ids = answer(ended)
        assert set(Job.objects.filter(pk__in=ids).values_list("tenant_id", flat=True)) == {ended.tenant_id}
        assert len(ids) == 2

    def test_an_error_of_a_coroutine_is_its_outcome_whatever_its_class(self, serve, subtests):
        for error in (ValueError("no"), asyncio.CancelledError("no"), SystemExit("no")):
            with subtests.test(type(error).__name__):

                async def fail(self, error=error):
                    await asyncio.sleep(0)
                    raise error

                goes_on, ended = serve(fail)
                assert (goes_on, ended.last_error) == (True, f"{type(error).__name__}: no")
        assert "in fail" in FailedAttempt.objects.order_by("pk")[0].traceback

    def test_a_function_runs_without_a_loop(self, serve, monkeypatch):
        monkeypatch.setattr(asyncio, "new_event_loop", None)
        assert serve(lambda self: None)[1].status == "success"


class TestTheTwins:
    def test_all_answer_without_holding_up_the_loop(self, serve):
        async def ask(self):
            run, turns, done = current_job(), [0], asyncio.Event()

            async def turn() -> None:
                while not done.is_set():
                    turns[0] += 1
                    await asyncio.sleep(0)

            turning = asyncio.create_task(turn())
            await run.aprogress(0.5, "half")
            await run.memory.amerge(cursor=7, gone=1)
            await run.memory.adelete("gone")
            assert await run.memory.aincrement("runs") == 1
            assert await run.memory.acompare_and_set("cursor", 7, 8)
            assert (await run.memory.aget("cursor"), await run.memory.aget("none", 0)) == (8, 0)
            kept = await run.memory.aas_dict()
            await run.object_memory.aclear()
            await run.acheck_cancelled()
            answers = [
                (await run.atenant()).pk,
                await run.abatch(),
                await run.aresults(),
                await run.acancel_requested(),
            ]
            done.set()
            await turning
            assert turns[0] > 10
            return [*answers, kept, (await Job.objects.aget(pk=run.id)).progress_note]

        _, ended = serve(ask)
        assert answer(ended) == [ended.tenant_id, None, {}, False, {"cursor": 8, "runs": 1}, "half"]

    def test_a_memory_is_of_the_tenant_alone(self, serve):
        async def count(self):
            return await current_job().memory.aincrement("runs")

        assert [answer(serve(count)[1]) for _ in range(2)] == [1, 1], "each serve is another tenant's"

    def test_a_cancel_is_heard(self, serve):
        async def ask(self):
            run = current_job()
            await in_thread(cancel, run.id, tenant_id=self.tenant_id)
            await run.acheck_cancelled()

        assert serve(ask)[1].status == "cancelled"

    def test_a_coroutine_outside_a_job_has_a_stand_in(self):
        async def ask() -> list[object]:
            run = current_job()
            await run.aprogress(0.5)
            return [await run.atenant(), await run.abatch(), await run.aresults(), await run.acancel_requested()]

        assert asyncio.run(ask()) == [None, None, {}, False]


class TestTheTimeLimit:
    def test_the_coroutine_is_cancelled_where_it_waits_and_cleans_up(self, over, serve):
        seen = []

        async def wait(self):
            try:
                await asyncio.sleep(LONG)
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise
            finally:
                await Run.objects.acreate(job_id=1, attempt=0, pid=0)

        goes_on, ended = over(wait)
        assert (goes_on, ended.last_error) == (True, "TimeoutError: timed out after 0.2 s")
        assert (seen, Run.objects.count()) == (["cancelled"], 1)
        assert "in wait" in FailedAttempt.objects.get().traceback, "where it waited"
        assert serve(lambda self: None)[1].status == "success"

    def test_a_query_that_it_awaits_is_cancelled_in_the_server_before_it_cleans_up(self, over):
        seen = []

        async def wait(self):
            try:
                await in_thread(sql, "SELECT pg_sleep(3600)")
            finally:
                seen.append(await Run.objects.acount())

        goes_on, ended = over(wait)
        assert (goes_on, ended.last_error, seen) == (True, "TimeoutError: timed out after 0.2 s", [0])
        sleeping = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%%pg_sleep(3600)' AND state = 'active'"
        assert value(sleeping) == 0

    def test_a_coroutine_that_catches_its_cancel_and_returns_has_timed_out(self, over):
        async def wait(self):
            try:
                await asyncio.sleep(LONG)
            except asyncio.CancelledError:
                return "done"

        assert over(wait)[1].last_error == "TimeoutError: timed out after 0.2 s"

    def test_code_that_blocks_the_loop_is_interrupted_a_little_later(self, over, monkeypatch):
        monkeypatch.setattr(time_limit, "DEAF", 0.1)
        seen = []

        async def block(self):
            try:
                time.sleep(LONG)
            finally:
                seen.append("cleaned up")

        goes_on, ended = over(block)
        assert (goes_on, ended.last_error) == (True, "TimeoutError: timed out after 0.2 s")
        assert seen == ["cleaned up"]

    def test_a_coroutine_that_hears_its_cancel_is_not_interrupted_again(self, over, monkeypatch):
        monkeypatch.setattr(time_limit, "DEAF", 0.1)
        seen = []

        async def wait(self):
            try:
                await asyncio.sleep(LONG)
            finally:
                time.sleep(0.3)
                await asyncio.sleep(0.1)
                seen.append("cleaned up")

        assert over(wait)[0]
        assert seen == ["cleaned up"]


class TestWhatIsLeft:
    def test_a_task_is_cancelled_and_named_and_cleans_up(self, serve, caplog):
        seen = []

        async def poll() -> None:
            try:
                await asyncio.sleep(LONG)
            finally:
                seen.append(await Run.objects.acount())

        async def leave(self):
            asyncio.create_task(poll(), name="a poll")  # noqa: RUF006 - left on purpose
            await asyncio.sleep(0)
            return "done"

        goes_on, ended = serve(leave)
        assert (goes_on, answer(ended), seen) == (True, "done", [0])
        assert f"{CANCELLED} job={ended.pk}" in caplog.text
        assert "a poll (TestWhatIsLeft" in caplog.text

    def test_a_task_that_does_not_end_ends_the_process(self, serve, caplog, impatient):
        async def stay() -> None:
            while True:
                try:
                    await asyncio.sleep(LONG)
                except asyncio.CancelledError:
                    continue

        async def leave(self):
            asyncio.create_task(stay(), name="a stubborn one")  # noqa: RUF006 - left on purpose
            await asyncio.sleep(0)

        goes_on, ended = serve(leave)
        assert (goes_on, ended.status) == (False, "success")
        assert f"{ENDS} job={ended.pk}" in caplog.text
        assert "left=a stubborn one" in caplog.text.replace("'", "").replace('"', "")

    def test_a_generator_that_was_left_open_is_closed_in_the_loop(self, serve, caplog):
        seen = []

        async def rows():
            try:
                yield 1
            finally:
                seen.append(await Run.objects.acount())

        kept = []

        async def leave(self):
            kept.append(rows())
            return await anext(kept[0])

        assert serve(leave)[0]
        assert seen == [0]
        assert CANCELLED not in caplog.text

    def test_a_task_that_is_collected_later_says_nothing_in_the_next_body(self, serve, caplog):
        kept = []

        async def fail() -> None:
            raise ValueError("a secret")

        async def leave(self):
            kept.append(asyncio.create_task(fail()))
            await asyncio.sleep(0)

        def collect(self) -> None:
            kept.clear()
            gc.collect()

        _, ended = serve(leave)
        serve(collect)
        assert f"task of an ended body failed job={ended.pk}" in caplog.text
        assert "a secret" not in caplog.text

    def test_a_loop_that_the_body_stops_is_an_error_of_the_body(self, serve):
        async def stop(self):
            asyncio.get_running_loop().stop()
            await asyncio.sleep(LONG)

        goes_on, ended = serve(stop)
        assert (goes_on, ended.last_error) == (True, "RuntimeError: Event loop stopped before Future completed.")

    def test_a_process_that_the_body_forked_does_not_take_the_loop_along(self, serve):
        async def fork(self):
            copy = os.fork()
            if copy == 0:
                return "the copy ends here"
            _, status = await asyncio.to_thread(os.waitpid, copy, 0)
            return os.waitstatus_to_exitcode(status)

        assert answer(serve(fork)[1]) == 0

    def test_a_thread_of_the_loop_ends_with_it(self, serve):
        async def look(self):
            await asyncio.to_thread(Run.objects.count)
            return await asyncio.to_thread(lambda: threading.current_thread().name)

        goes_on, ended = serve(look)
        assert goes_on
        assert answer(ended) not in [thread.name for thread in threading.enumerate()]
