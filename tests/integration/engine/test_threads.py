"""Threads and event loops of a body: in whose sessions they are, what becomes of these, and what ends the process."""

import asyncio
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import connection, connections, transaction

from jobs import async_, current_job, job
from jobs.engine.attempt import sync_thread, threads
from jobs.engine.attempt.execute import execute
from jobs.engine.process import interrupt
from jobs.engine.verbs.cancel import cancel
from jobs.models import Job, JobMemory
from jobs.store import results
from tests.chaos.freezing import backends
from tests.factories import ThingFactory
from tests.sample.models import Run, Thing
from tests.sql import sql, value
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]
ENDS = "process ends: what a body has started still runs"


@pytest.fixture
def serve(host, sent, monkeypatch):
    """Run this body as a job of one tenant; whether its process may go on, and the job as it ended."""

    def serve(body) -> tuple[bool, Job]:
        monkeypatch.setattr(Thing, "echo", job(dedup=False)(lambda self: body()))
        job_id = ThingFactory().async_.echo()
        return execute(job_id, 1, host), Job.objects.get(pk=job_id)

    return serve


@pytest.fixture
def over():
    """What the threads wait for that a test leaves."""
    over = threading.Event()
    yield over
    over.set()


@pytest.fixture
def impatient(monkeypatch):
    for module in (sync_thread, threads):
        monkeypatch.setattr(module, "CANCEL_PATIENCE", 0.1)


@pytest.fixture
def kept(over):
    """A pool that a body keeps."""
    with ThreadPoolExecutor(1) as pool:
        yield pool
        over.set()
        pool.submit(connections.close_all)


def backend() -> int:
    connection.ensure_connection()
    return connection.connection.info.backend_pid


def session_is_there(pid: int) -> bool:
    return bool(sql("SELECT FROM pg_stat_activity WHERE pid = %s", [pid]))


class TestTheOrmThatABodyAwaits:
    @pytest.mark.parametrize("wait", [asyncio.run, lambda made: async_to_sync(lambda: made)()])
    @pytest.mark.filterwarnings("ignore:async_to_sync was passed")
    def test_runs_in_the_session_and_the_transaction_of_the_body(self, wait, serve):
        def body() -> int:
            with transaction.atomic():
                Run.objects.create(job_id=1, attempt=0, pid=backend())
                [run] = wait(sync_to_async(list)(Run.objects.all()))
                assert wait(sync_to_async(backend)()) == run.pid
                transaction.set_rollback(True)
            return run.pid

        goes_on, ended = serve(body)
        assert (goes_on, ended.status) == (True, "success"), ended.last_error
        assert results.load(ended).value == backend(), "and it is kept"
        assert not Run.objects.exists()

    def test_has_sessions_of_its_own_if_the_loop_is_in_another_thread_which_end_with_the_body(self, serve):
        seen = []

        def body() -> None:
            loop = threading.Thread(target=lambda: seen.append(asyncio.run(sync_to_async(backend)())))
            loop.start()
            loop.join()
            seen.append(asyncio.run(sync_to_async(backend)()))

        assert serve(body)[0]
        assert seen[1] == backend() != seen[0]
        wait_until(lambda: not session_is_there(seen[0]), "it ends")

    def test_dispatches_what_it_has_submitted_when_the_body_commits(self, serve, sent):
        submitted = []

        def body() -> None:
            again = async_(ThingFactory().again)
            with transaction.atomic():
                submitted.append(asyncio.run(again.asubmit()))
                assert submitted[0] not in [message.id for message in sent]
            submitted.append(Job.objects.get(pk=submitted[0]).status)

        goes_on, ended = serve(body)
        assert (goes_on, ended.status) == (True, "success"), ended.last_error
        assert submitted[1] == "created", "the only process is busy"
        assert Job.objects.get(pk=submitted[0]).status in ("queued", "success"), "and then it goes on"

    def test_ends_with_the_body_although_the_server_is_busy_with_it(self, serve):
        def body() -> None:
            mine = connection.connection

            async def give_up() -> None:
                asking = asyncio.create_task(sync_to_async(sql)("SELECT pg_sleep(3600)"))
                while not interrupt.is_active(connections_of_the_body[0]):
                    await asyncio.sleep(0.01)
                asking.cancel()
                raise ValueError("no")

            connections_of_the_body = [connections["default"]]
            assert mine is connections_of_the_body[0].connection
            asyncio.run(give_up())

        goes_on, ended = serve(body)
        assert (goes_on, ended.last_error) == (True, "ValueError: no")
        assert backends("query LIKE '%%pg_sleep(3600)' AND state = 'active'") == []

    def test_a_call_that_goes_on_ends_the_process(self, serve, over, impatient, caplog):
        async def leave() -> None:
            asking = asyncio.create_task(sync_to_async(over.wait)())
            await asyncio.sleep(0)
            asking.cancel()

        goes_on, ended = serve(lambda: asyncio.run(leave()))
        assert (goes_on, ended.status) == (False, "success")
        assert f"{ENDS} job={ended.pk}" in caplog.text
        assert "left=sync_to_async" in caplog.text
        over.set()


class TestLeftThreads:
    @pytest.mark.usefixtures("impatient")
    def test_a_thread_that_still_runs_ends_the_process(self, serve, over, kept, caplog, subtests):
        def wait() -> None:
            over.wait()

        def fill_the_queue() -> None:
            kept.submit(over.wait)
            kept.submit(over.wait)

        block, timer = transaction.atomic(), threading.Timer(3600, wait)
        left = {
            "a function": threading.Thread(target=wait, daemon=True).start,
            "a call of a library's by a function": threading.Thread(target=lambda: over.wait(60)).start,
            "a timer": timer.start,
            "a queue": fill_the_queue,
            "a transaction": lambda: kept.submit(block.__enter__).result(),
        }
        for name, body in left.items():
            over.clear()
            with subtests.test(name):
                goes_on, ended = serve(body)
                over.set()
                assert (goes_on, ended.status) == (False, "success"), ended.last_error
                assert f"{ENDS} job={ended.pk}" in caplog.text
                if name == "a timer":
                    timer.cancel()
                if name == "a transaction":
                    kept.submit(block.__exit__, None, None, None).result()
                wait_until(lambda: serve(lambda: None)[0], "it was the only reason")

    def test_a_thread_that_waits_for_work_may_stay_without_its_session(self, serve, kept, over, caplog, subtests):
        loop = asyncio.new_event_loop()
        seen = []
        wait = {
            "a pool": lambda: seen.append(kept.submit(backend).result()),
            "a thread of a library": lambda: threading.Thread(target=over.wait, daemon=True).start(),
            "a loop": lambda: threading.Thread(target=loop.run_forever, daemon=True).start(),
        }
        for name, body in wait.items():
            with subtests.test(name):
                goes_on, ended = serve(body)
                assert (goes_on, ended.status) == (True, "success"), ended.last_error
        wait_until(lambda: not session_is_there(seen[0]), "it ends")
        serve(lambda: seen.append(kept.submit(backend).result()))
        assert seen[0] != seen[1], "and another one opens"
        loop.call_soon_threadsafe(loop.stop)
        wait_until(lambda: not loop.is_running(), "it stops")
        loop.close()
        assert ENDS not in caplog.text

    def test_from_before_the_body_is_none_of_its_own(self, serve, over):
        def wait() -> None:
            over.wait()

        threading.Thread(target=wait, daemon=True).start()
        assert serve(lambda: None)[0]

    def test_a_thread_that_is_about_to_end_may_end(self, serve, over):
        def body() -> None:
            def end() -> None:
                over.wait()

            threading.Thread(target=end).start()
            threading.Timer(0, over.set).start()

        assert serve(body)[0]

    def test_nothing_is_not_looked_for(self, serve, monkeypatch):
        def refuse() -> None:
            raise AssertionError("there is no other thread")

        monkeypatch.setattr(sys, "_current_frames", refuse)
        assert serve(Run.objects.count)[0]


class TestInALoop:
    """The running job answers there, too."""

    @pytest.mark.parametrize("wait", [asyncio.run, lambda made: async_to_sync(lambda: made)()])
    @pytest.mark.filterwarnings("ignore:async_to_sync was passed")
    def test_all_answer(self, wait, serve, host):
        async def ask() -> list[object]:
            run = current_job()
            run.progress(0.5, "half")
            run.memory.merge(cursor=7)
            run.check_cancelled()
            return [run.tenant.pk, run.memory["cursor"], run.batch, run.results()]

        def body() -> object:
            answers = wait(ask())
            assert Job.objects.get(pk=current_job().id).progress_note == "half"
            return answers

        _, ended = serve(body)
        assert ended.status == "success", ended.last_error
        assert results.load(ended).value == [ended.tenant_id, 7, None, {}]

    def test_a_cancel_is_heard(self, serve):
        async def ask() -> None:
            current_job().check_cancelled()

        def body() -> None:
            run = current_job()
            cancel(run.id, tenant_id=run.tenant.pk)
            asyncio.run(ask())

        assert serve(body)[1].status == "cancelled"

    def test_the_memory_is_of_the_transaction_of_the_body(self, serve):
        async def remember() -> None:
            current_job().memory.merge(cursor=7)

        def body() -> None:
            with suppress(ValueError), transaction.atomic():
                current_job().memory.merge(cursor=6)
                asyncio.run(remember())
                raise ValueError

        assert serve(body)[1].status == "success"
        assert not JobMemory.objects.exists()

    def test_a_call_of_the_orm_in_the_loop_itself_is_still_refused(self, serve):
        async def ask() -> None:
            current_job().progress(0.5)
            Run.objects.count()

        assert "SynchronousOnlyOperation" in serve(lambda: asyncio.run(ask()))[1].last_error


@contextmanager
def around(running):
    with transaction.atomic():
        sql("SELECT set_config('app.around', %s, true)", [str(running.tenant.pk)])
        yield


def test_the_context_around_a_body_holds_for_the_calls_that_it_awaits(serve, settings):
    settings.JOBS_AROUND = f"{__name__}.around"
    said = partial(value, "SELECT current_setting('app.around', true)")
    _, ended = serve(lambda: asyncio.run(sync_to_async(said)()))
    assert ended.status == "success", ended.last_error
    assert results.load(ended).value == str(ended.tenant_id)
