"""The seats of a light process: whatever a body does, its attempt ends once, and nothing of it reaches another."""

import asyncio
import logging
import math
import socket
import sys
import threading
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar
from decimal import Decimal, getcontext
from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.utils import translation

from jobs import current_job, in_thread, job, store
from jobs.engine.attempt import captured_output
from jobs.engine.attempt.body import StillAway
from jobs.engine.light import coroutine, host, seats
from jobs.engine.light.coroutine import Attempt
from jobs.engine.light.database import Lane
from jobs.engine.light.host import LightProcess, LightSeat
from jobs.models import Job, JobLog
from jobs.store import session
from jobs.worker.light.child import LightChild
from tests.factories import TenantFactory, ThingFactory
from tests.integration.processes.light_seats import SeatsHere, listened_by_context, value_of
from tests.sample.models import Thing
from tests.sql import sql, value
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
scope: ContextVar[int] = ContextVar("scope", default=0)


@contextmanager
def in_scope(running):
    token = scope.set(running.tenant.pk)
    sql("SELECT set_config('app.around', %s, false)", [str(running.tenant.pk)])
    try:
        yield
    finally:
        scope.reset(token)


class TestTheEnd:
    def test_a_body_that_cancels_its_own_task_at_its_end_has_an_end(self, runs):
        async def cancel_itself(self):
            asyncio.current_task().cancel()
            return "a result that is kept by a thread"

        assert value_of(runs(cancel_itself)) == "a result that is kept by a thread"

    def test_an_attempt_that_is_cancelled_before_its_body_begins_is_no_success(self, here, submit):
        async def nothing(self):
            pass

        started = store.start(submit(nothing), 1, store.Seat.here(here.worker))
        attempt = Attempt(started, LightSeat(here.process), Lane(here.database))

        def begin() -> None:
            here.seats._attempts[attempt.key] = attempt
            found = here.loop.create_future()
            found.set_result(None)
            here.seats._run_all([attempt], found)
            attempt.task.cancel()

        coroutine.find([attempt])
        here.on_loop(begin)
        assert isinstance(here.outcome(started.id).error, asyncio.CancelledError)

    def test_an_attempt_whose_object_nobody_could_look_for_is_no_success(self, here, submit, monkeypatch):
        async def nothing(self):
            pass

        def fail(attempts):
            raise RuntimeError("a thread that fails")

        monkeypatch.setattr(coroutine, "find", fail)
        job_id = submit(nothing)
        here.begin(job_id)
        assert isinstance(here.outcome(job_id).error, StillAway)
        assert Job.objects.get(pk=job_id).status == "running"  # its parent takes it back

    def test_an_outcome_that_cannot_be_stored_frees_its_seat(self, here, runs, monkeypatch):
        async def fail(self):
            raise ValueError

        monkeypatch.setattr(seats, "settle", lambda *_: {}["no such key"])
        assert isinstance(runs(fail).error, KeyError)
        assert not here.seats._attempts

    @pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit, BaseException])
    def test_every_exception_of_a_body_is_its_outcome(self, runs, error):
        async def leave(self):
            raise error

        assert isinstance(runs(leave).error, error)


class TestTheRest:
    def test_a_task_that_a_task_starts_in_its_end_is_cancelled_and_named_too(self, runs, caplog):
        ends, tasks = [], []

        async def wait():
            try:
                await asyncio.sleep(3600)
            finally:
                ends.append("second")

        async def start_another():
            try:
                await asyncio.sleep(3600)
            finally:
                tasks.append(asyncio.create_task(wait(), name="second"))
                ends.append("first")

        async def leave(self):
            tasks.append(asyncio.create_task(start_another(), name="first"))
            await asyncio.sleep(0)

        assert value_of(runs(leave)) is None
        assert ends == ["first", "second"]
        told = [one.facts["left"] for one in caplog.records if one.event == "tasks cancelled: their body has ended"]
        assert [left.partition(" ")[0] for left in told] == ["first", "second"]

    def test_a_task_in_an_empty_context_is_ended_too(self, runs):
        ends = []

        async def wait():
            try:
                await asyncio.sleep(3600)
            finally:
                ends.append(True)

        async def leave(self):
            asyncio.get_running_loop().create_task(wait(), context=Context())
            await asyncio.sleep(0)

        assert value_of(runs(leave)) is None
        assert ends == [True]

    def test_a_thread_of_a_call_that_goes_on_after_the_limit_drains_the_process(self, here, submit, impatient):
        go_on = threading.Event()

        async def wait(self):
            await asyncio.to_thread(go_on.wait, 60)

        job_id = submit(wait, timeout=0.1)
        here.begin(job_id)
        wait_until(lambda: here.stuck, "it is told")
        go_on.set()
        assert isinstance(here.outcome(job_id).error, TimeoutError)
        assert [attempt.job.id for attempt in here.stuck] == [job_id]

    def test_a_session_that_such_a_thread_has_used_is_reset(self, here, runs):
        async def leave(self):
            await asyncio.to_thread(sql, "SELECT set_config('app.tenant', 'a stranger', false)")

        async def look(self):
            return await asyncio.to_thread(value, "SELECT coalesce(current_setting('app.tenant', true), '')")

        runs(leave)
        assert value_of(runs(look)) == ""


@pytest.fixture
def watched(here):
    """The thread that watches the loop, and what it tells the parent."""
    child, wire = object.__new__(LightChild), Wires(here)
    child._seats, child._database, child._process = here.seats, here.database, here.process
    child._rounds, child._watch_wire, child._index = wire, wire, 0

    def watch() -> None:
        with suppress(SystemExit):
            child._watch()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    yield wire
    wire.is_over = True
    thread.join(10)
    wire.close()


class Wires:
    """The wire to the parent, and the rounds of the loop."""

    def __init__(self, here) -> None:
        self.sent, self.looks, self.is_over, self._here = [], 0, False, here
        self._ends = socket.socketpair()
        self.fileno = self._ends[0].fileno

    def send(self, *message) -> None:
        self.sent.append(message)

    def told(self) -> list[str]:
        return [name for name, *_ in self.sent if name in ("blocked", "silent")]

    def last(self, _) -> float:
        if self.is_over:
            raise SystemExit
        self.looks += 1
        return self._here.seats._round

    def close(self) -> None:
        for end in self._ends:
            end.close()


class TestSilence:
    def test_a_coroutine_that_tells_nothing_for_so_long_is_cancelled_and_its_answer_does_not_count(self, runs):
        async def swallow(self):
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(60)
            current_job().progress(0.9)
            return "too late"

        error = runs(swallow, silence=0.1).error
        assert (type(error), str(error)) == (TimeoutError, "silent for 0.1 s")

    def test_a_coroutine_that_tells_its_progress_goes_on_until_its_time_limit(self, runs):
        async def tell(self, times):
            for _ in range(times):
                await asyncio.sleep(0.04)
                current_job().progress(0.5)

        assert value_of(runs(tell, 12, silence=0.3)) is None
        error = runs(tell, 60, silence=0.3, timeout=0.4).error
        assert str(error) == "timed out after 0.4 s"

    def test_while_it_blocks_the_loop_another_thread_sees_how_long_it_has_been_silent(self, here, begin):
        went, go_on = threading.Event(), threading.Event()

        async def block(self):
            went.set()
            go_on.wait(10)
            current_job().progress(0.5)
            await asyncio.sleep(0)

        (job_id,) = begin(block, silence=0.1)
        went.wait(10)
        attempt = here.seats.now_running()
        wait_until(lambda: attempt.silent_beyond(0.1), "it is silent for too long")
        assert (attempt.job.id, attempt.silent_beyond(0), attempt.silent_beyond(60)) == (job_id, "silent for 0.1 s", "")
        go_on.set()
        here.outcome(job_id)
        attempt.host.heard -= 60
        assert attempt.silent_beyond(0) == "", "it is over"

    def test_a_neighbour_that_could_tell_nothing_meanwhile_is_not_silent_and_the_one_that_blocked_is(self, here, begin):
        went, go_on = threading.Event(), threading.Event()

        async def tell(self):
            while not go_on.is_set():
                current_job().progress(0.5)
                await asyncio.sleep(0.3)
            return "told"

        async def block(self):
            await asyncio.sleep(0)
            went.set()
            go_on.wait(10)
            await asyncio.sleep(0.3)

        neighbour, guilty = begin(tell, block, silence=0.5)
        went.wait(10)
        here.seats.blame((guilty, 1))
        one = here.seats._attempts[neighbour, 1]
        wait_until(lambda: one.silent_beyond(0), "it has told nothing for long")
        go_on.set()
        assert value_of(here.outcome(neighbour)) == "told"
        assert str(here.outcome(guilty).error) == "silent for 0.5 s"

    def test_a_body_that_blocks_the_loop_after_another_is_silent_by_its_own_block(self, here, begin, watched, settings):
        settings.JOBS_TIMEOUT_GRACE = 0.2
        went, go_on = [threading.Event(), threading.Event()], [threading.Event(), threading.Event()]
        ready = asyncio.Event()

        async def first(self):
            await asyncio.sleep(0)
            ready.set()  # the other one is on the loop as soon as this one leaves it, before its next round
            went[0].set()
            go_on[0].wait(10)

        async def second(self):
            await ready.wait()
            went[1].set()
            go_on[1].wait(10)

        last, _ = begin(second, first, silence=1.0)  # many looks of the watch, on a busy machine too
        here.seats._attempts[last + 1, 1].silence = math.inf
        went[0].wait(10)
        other = here.seats._attempts[last, 1]
        wait_until(lambda: other.silent_beyond(0.2), "it has told nothing for long")
        go_on[0].set()
        went[1].wait(10)
        looks = watched.looks
        wait_until(lambda: watched.looks > looks + 3, "the watch looks")
        assert watched.told() == ["blocked"]
        wait_until(lambda: ("silent", (last, 1), "silent for 1 s") in watched.sent, "it is told", 5)
        go_on[1].set()
        here.outcome(last)


class TestTheStack:
    def test_a_body_tells_where_it_waits_with_its_tasks_and_nothing_of_its_neighbour(self, here, begin):
        async def look_up_prices():
            await asyncio.sleep(60)

        async def wait(self):
            await asyncio.gather(look_up_prices(), asyncio.sleep(61))

        async def be_beside(self):
            await asyncio.sleep(62)

        mine, other = begin(wait, be_beside)
        wait_until(lambda: "look_up_prices" in here.seats.stack_of((mine, 1))[0], "its task waits")
        told, note = here.seats.stack_of((mine, 1))
        assert " in wait" in told
        assert ("be_beside" in told, "engine/light" in told, note) == (False, False, "")
        assert " in be_beside" in here.seats.stack_of((other, 1))[0]
        text, note = here.seats.stack_of((mine, 2))
        assert (text, note) == ("", "Its body does not run: it begins, or has just ended.")
        here.on_loop(here.seats.cancel, [(mine, 1), (other, 1)])
        here.outcome(mine), here.outcome(other)

    def test_a_body_that_blocks_the_loop_tells_where(self, here, begin):
        went, go_on = threading.Event(), threading.Event()

        async def block(self):
            went.set()
            go_on.wait(10)

        (job_id,) = begin(block)
        went.wait(10)
        told, _ = here.seats.stack_of((job_id, 1))
        go_on.set()
        here.outcome(job_id)
        assert " in wait\n" in told
        assert told.splitlines()[-1].endswith(" in echo"), "the fixture that has called it"


class TestDatabaseCalls:
    def test_a_call_that_its_body_cancels_is_cancelled_on_the_server_and_its_session_thrown_away(self, runs):
        pids = []

        async def give_up(self):
            backend = sync_to_async(lambda: pids.append(value("SELECT pg_backend_pid()")) or sql("SELECT pg_sleep(60)"))
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await backend()
            return await in_thread(value, "SELECT pg_backend_pid()")  # in the same lane: soon

        assert value_of(runs(give_up, timeout=20)) not in pids
        wait_until(lambda: not value("SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%s)", [pids]), "it is gone")

    def test_the_context_of_the_project_is_in_each_call_and_nowhere_else(self, here, submit, settings):
        settings.JOBS_AROUND = f"{__name__}.in_scope"

        async def ask(self):
            said = sync_to_async(lambda: [scope.get(), value("SELECT current_setting('app.around', true)")])
            return [await said(), scope.get()]

        ids = [submit(ask), submit(ask)]
        here.begin(*ids)
        for job_id in ids:
            tenant = Job.objects.get(pk=job_id).tenant_id
            assert value_of(here.outcome(job_id)) == [[tenant, str(tenant)], 0]

    def test_a_function_in_a_thread_may_await_a_coroutine_that_calls_the_database(self, runs):
        async def inner():
            return await Thing.objects.acount()

        async def nest(self):
            return await sync_to_async(async_to_sync(inner))()

        assert value_of(runs(nest)) == 1


class TestTheContext:
    def test_language_decimals_and_the_job_are_those_of_the_attempt(self, here, submit):
        async def change(self, language, digits):
            translation.activate(language)
            getcontext().prec = digits
            await asyncio.sleep(0.05)
            return [translation.get_language(), str(Decimal(1) / 3), current_job().id]

        german, french = submit(change, "de", 3), submit(change, "fr", 5)
        here.begin(german, french)
        assert value_of(here.outcome(german)) == ["de", "0.333", german]
        assert value_of(here.outcome(french)) == ["fr", "0.33333", french]

    def test_the_log_of_an_attempt_has_its_own_lines_alone(self, here, sent, monkeypatch):
        logger = logging.getLogger("shop")

        async def speak(self, word):
            logger.warning(word)
            await asyncio.sleep(0.02)
            sys.stdout.write(f"{word} printed\n")
            await in_thread(logger.warning, f"{word} in a thread")
            await asyncio.to_thread(logger.warning, f"{word} in another")

        monkeypatch.setattr(Thing, "echo", job(dedup=False, log=True)(speak))
        ids = [ThingFactory(tenant=TenantFactory()).async_.echo(word) for word in ("mine", "yours")]
        with listened_by_context():
            here.begin(*ids)
            texts = [here.outcome(job_id).log.text() for job_id in ids]
        for text, word, other in zip(texts, ("mine", "yours"), ("yours", "mine"), strict=True):
            assert [text.count(said) for said in (word, other)] == [4, 0]

    def test_the_log_of_an_attempt_that_runs_is_stored_while_it_grows(self, here, sent, monkeypatch):
        for module in (captured_output, seats):
            monkeypatch.setattr(module, "PAUSE", 0.01)

        async def speak(self, word):
            for said, stored in ((word, word), ("more", f"{word}more")):
                sys.stdout.write(said)
                await in_thread(wait_until, JobLog.objects.filter(text=stored).all().exists, stored)

        monkeypatch.setattr(Thing, "echo", job(dedup=False, log=True)(speak))
        ids = [ThingFactory(tenant=TenantFactory()).async_.echo(word) for word in ("mine", "hers")]
        with listened_by_context():
            here.begin(*ids)
            assert [here.outcome(job_id).error for job_id in ids] == [None, None]
        logs = {log.job_id: (log.tenant_id, log.text) for log in JobLog.objects.all()}
        owners = dict(Job.objects.values_list("pk", "tenant"))
        assert logs == {ids[0]: (owners[ids[0]], "minemore"), ids[1]: (owners[ids[1]], "hersmore")}

    def test_a_report_of_progress_holds_up_no_loop_and_survives_a_lost_session(self, here, runs):
        async def report(self):
            current_job().progress(0.2, "first")
            await in_thread(lambda: wait_until(lambda: noted() == ["first"], "it is kept"))
            await in_thread(cut_the_sessions_of_reports, here)
            for nth in range(50):
                current_job().progress(0.3, f"lost {nth}")
            await in_thread(lambda: wait_until(lambda: here.reporter.submit(bool).result() is False, "they are over"))
            await current_job().aprogress(0.5, "last")
            return await in_thread(noted)

        assert value_of(runs(report)) == ["last"]

    def test_a_report_that_comes_while_the_one_before_is_taken_is_made(self, monkeypatch):
        made, submitted, partial = [], [], host.partial

        def submit(*call) -> None:
            submitted.append(partial(*call))

        seat = LightSeat(LightProcess(uuid4(), submit=submit, loop_thread=threading.get_ident()))

        def take_the_one_before(*parts):
            monkeypatch.undo()
            thread = threading.Thread(target=submitted.pop())
            thread.start()
            thread.join(0.2)  # or it waits for this thread
            return partial(*parts)

        def report(number) -> bool:
            made.append(number)
            return True

        seat.aside(report, 1)
        monkeypatch.setattr(host, "partial", take_the_one_before)
        seat.aside(report, 2)
        for call in submitted:
            call()
        wait_until(lambda: made[-1:] == [2], "it is made", limit=5)


def noted() -> list[str]:
    return list(Job.objects.filter(status="running").values_list("progress_note", flat=True))


def cut_the_sessions_of_reports(here: SeatsHere) -> None:
    def pid() -> int:
        with here.process.own_session():
            return session().connection.info.backend_pid

    sql("SELECT pg_terminate_backend(%s)", [here.reporter.submit(pid).result()])
