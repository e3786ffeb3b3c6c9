"""The end of a body that is a coroutine: its time limit, and the tasks that it leaves behind."""

import asyncio
import gc
import os
import signal
import threading
import time
from contextlib import suppress

import pytest

from jobs import in_thread
from jobs.engine.attempt import coroutines
from jobs.models import FailedAttempt
from jobs.store import results
from jobs.worker.children import time_limit
from jobs.worker.children.running_table import RunningTable
from jobs.worker.children.time_limit import Timer
from tests.attempts import changed
from tests.chaos.freezing import backends
from tests.kinds import Ordinary
from tests.sample.models import Run
from tests.sql import sql

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]
CANCELLED = "tasks cancelled: their body has ended"
ENDS = "what a body has started still runs"
LONG = 3600.0  # seconds
of_an_ordinary_pool = pytest.mark.parametrize("kind", ["ordinary"], indirect=True)


async def nothing(self) -> None:
    pass


@pytest.fixture
def over(serve_of_both, kind):
    """Run this body with a limit of 0.2 s. The timer of an ordinary process is in its main thread."""
    before = signal.getsignal(signal.SIGALRM)
    if isinstance(kind, Ordinary):
        kind.host = changed(kind.host, limit=Timer(RunningTable(1).take_entry(0, os.getpid())))
    yield lambda body: serve_of_both(body, timeout=0.2)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(coroutines, "CANCEL_PATIENCE", 0.1)
    yield
    coroutines._kept.clear()


class TestTheTimeLimit:
    def test_the_coroutine_is_cancelled_where_it_waits_and_cleans_up(self, over, serve_of_both):
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
        assert serve_of_both(nothing)[1].status == "success"

    def test_a_query_that_it_awaits_is_cancelled_in_the_server_before_it_cleans_up(self, over):
        seen = []

        async def wait(self):
            try:
                await in_thread(sql, "SELECT pg_sleep(3600)")
            finally:
                seen.append(await Run.objects.acount())

        goes_on, ended = over(wait)
        assert (goes_on, ended.last_error, seen) == (True, "TimeoutError: timed out after 0.2 s", [0])
        assert backends("query LIKE '%%pg_sleep(3600)' AND state = 'active'") == []

    def test_a_coroutine_that_catches_its_cancel_and_returns_has_timed_out(self, over):
        async def wait(self):
            try:
                await asyncio.sleep(LONG)
            except asyncio.CancelledError:
                return "done"

        assert over(wait)[1].last_error == "TimeoutError: timed out after 0.2 s"

    @of_an_ordinary_pool
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


class TestLeftTasks:
    def test_a_task_is_cancelled_and_named_and_cleans_up(self, serve_of_both, caplog):
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

        goes_on, ended = serve_of_both(leave)
        assert (goes_on, ended.status, seen) == (True, "success", [0])
        assert f"{CANCELLED} job={ended.pk}" in caplog.text
        assert "a poll (TestLeftTasks" in caplog.text

    def test_a_task_that_does_not_end_ends_the_process_and_runs_no_more(self, serve_of_both, caplog, impatient):
        seen = []

        async def stay() -> None:
            try:
                while True:
                    with suppress(asyncio.CancelledError):
                        await asyncio.sleep(LONG)
            finally:
                seen.append("run by the collector")

        async def leave(self):
            asyncio.create_task(stay(), name="a stubborn one")  # noqa: RUF006 - left on purpose
            await asyncio.sleep(0)

        goes_on, ended = serve_of_both(leave)
        gc.collect()
        assert (goes_on, ended.status, seen) == (False, "success", [])
        assert f"{ENDS} job={ended.pk}" in caplog.text
        assert "left=a stubborn one" in caplog.text.replace("'", "").replace('"', "")

    def test_a_task_that_breaks_the_end_of_its_loop_ends_the_process(self, serve_coroutine, caplog):
        async def poll() -> None:
            try:
                await asyncio.sleep(LONG)
            finally:
                raise SystemExit("no")

        async def leave(self):
            asyncio.create_task(poll())  # noqa: RUF006 - left on purpose
            await asyncio.sleep(0)

        goes_on, ended = serve_coroutine(leave)
        assert (goes_on, ended.last_error) == (False, "SystemExit: no")
        assert "left=an event loop" in caplog.text.replace("'", "").replace('"', "")

    def test_a_generator_that_was_left_open_is_closed_in_the_loop(self, serve_of_both, caplog):
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

        assert serve_of_both(leave)[0]
        assert seen == [0]
        assert CANCELLED not in caplog.text

    def test_a_task_that_is_collected_later_says_nothing_in_the_next_body(self, serve_of_both, caplog):
        kept = []

        async def fail() -> None:
            raise ValueError("a secret")

        async def leave(self):
            kept.append(asyncio.create_task(fail()))
            await asyncio.sleep(0)

        async def collect(self) -> None:
            kept.clear()
            gc.collect()

        _, ended = serve_of_both(leave)
        serve_of_both(collect)
        assert f"task of an ended body failed job={ended.pk}" in caplog.text
        assert "a secret" not in caplog.text

    def test_a_loop_that_the_body_stops_is_an_error_of_the_body(self, serve_coroutine):
        async def stop(self):
            asyncio.get_running_loop().stop()
            await asyncio.sleep(LONG)

        goes_on, ended = serve_coroutine(stop)
        assert (goes_on, ended.last_error) == (True, "RuntimeError: Event loop stopped before Future completed.")

    def test_a_process_that_the_body_forked_does_not_take_the_loop_along(self, serve_coroutine):
        async def fork(self):
            copy = os.fork()
            if copy == 0:
                return "the copy ends here"
            _, status = await asyncio.to_thread(os.waitpid, copy, 0)
            return os.waitstatus_to_exitcode(status)

        assert results.load(serve_coroutine(fork)[1]).value == 0

    def test_a_thread_of_the_loop_ends_with_it(self, serve_coroutine):
        async def look(self):
            await asyncio.to_thread(Run.objects.count)
            return await asyncio.to_thread(lambda: threading.current_thread().name)

        goes_on, ended = serve_coroutine(look)
        assert goes_on
        assert results.load(ended).value not in [thread.name for thread in threading.enumerate()]
