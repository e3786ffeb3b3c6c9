"""Bodies without `async` in a light process: each in a thread of its own, with its own context and sessions."""

import asyncio
import json
import logging
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal, getcontext
from functools import partial

import pytest
from asgiref.sync import async_to_sync
from celery.exceptions import SoftTimeLimitExceeded
from django.db import connection, transaction
from django.utils import translation

from jobs import Abandon, RetryLater, current_job
from jobs.authoring.exceptions import Cancelled
from jobs.engine.light import threads
from jobs.engine.light.coroutine import NotACoroutine
from jobs.models import Job
from tests.integration.processes.light_seats import SeatsHere, end_threads, listened_by_context, of_bodies, value_of
from tests.sample.models import Thing
from tests.sql import sql, value
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
SOON = 0.1  # seconds
SCOPE = "SELECT coalesce(current_setting('app.tenant', true), '')"


@contextmanager
def in_scope(running):
    sql("SELECT set_config('app.tenant', %s, false)", [str(running.tenant.pk)])
    yield


@pytest.fixture
def here(register):
    here = SeatsHere(register(), threads=True)
    yield here
    here.close()


def pid_of_session() -> int:
    return value("SELECT pg_backend_pid()")


def is_there(pid: int) -> bool:
    return value("SELECT count(*) FROM pg_stat_activity WHERE pid = %s", [pid]) == 1


class TestABody:
    def test_bodies_that_wait_do_so_at_once_and_hold_up_no_coroutine(self, here, submit):
        together = threading.Barrier(11)

        def wait(self):
            together.wait(20)
            return threading.get_ident()

        async def nothing(self):
            await asyncio.sleep(0)

        waiting = [submit(wait) for _ in range(10)]
        here.begin(*waiting)
        wait_until(lambda: together.n_waiting == 10, "all wait")
        passes_by = submit(nothing)
        here.begin(passes_by)
        assert value_of(here.outcome(passes_by)) is None
        together.wait(20)
        assert len({value_of(here.outcome(job_id)) for job_id in waiting}) == 10

    def test_a_thread_takes_the_next_body(self, runs):
        def tell(self):
            return threading.get_ident()

        assert value_of(runs(tell)) == value_of(runs(tell))

    def test_without_threads_it_fails_with_the_remedy(self, register, submit):
        def never(self):
            raise AssertionError

        ordinary = SeatsHere(register())
        job_id = submit(never)
        ordinary.begin(job_id)
        error = ordinary.outcome(job_id).error
        ordinary.close()
        assert isinstance(error, NotACoroutine)
        assert "or its pool threads, and restart its workers" in str(error)

    @pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, StopIteration, GeneratorExit, ValueError])
    def test_every_exception_is_its_outcome(self, runs, error):
        def leave(self):
            raise error

        assert isinstance(runs(leave).error, error)

    def test_a_result_is_kept_and_a_lazy_one_asks_in_its_thread(self, here, submit):
        class Asked(dict):
            def items(self):
                return [("pid", pid_of_session())]

        def count(self):
            current_job().stats["pid"] = pid_of_session()
            current_job().progress(0.5, "half")
            return Asked(pid=None)

        job_id = submit(count)
        here.begin(job_id)
        outcome = here.outcome(job_id)
        job = Job.objects.get(pk=job_id)
        assert (outcome.text, job.progress_note) == (json.dumps(outcome.stats), "half")
        assert outcome.result_bytes == len(outcome.text)

    @pytest.mark.parametrize(("error", "status"), [(RetryLater(30), "scheduled"), (Abandon("no"), "dead")])
    def test_a_body_says_how_its_attempt_ends(self, here, submit, error, status):
        def end(self):
            raise error

        job_id = submit(end)
        here.begin(job_id)
        assert here.outcome(job_id).error is error
        assert Job.objects.get(pk=job_id).status == status


class TestItsContext:
    def test_language_decimals_and_the_job_are_its_own(self, here, submit):
        together = threading.Barrier(2)

        def tell(self, language):
            translation.activate(language)
            getcontext().prec = 3 if language == "de" else 5
            together.wait(10)
            return [translation.get_language(), str(Decimal(1) / 3), current_job().id]

        german, french = submit(tell, "de"), submit(tell, "fr")
        here.begin(german, french)
        assert value_of(here.outcome(german)) == ["de", "0.333", german]
        assert value_of(here.outcome(french)) == ["fr", "0.33333", french]
        assert translation.get_language() != "fr"

    def test_its_log_has_its_own_lines_alone(self, here, submit):
        together = threading.Barrier(2)

        def speak(self, word):
            together.wait(10)
            logging.getLogger("shop").warning(word)
            sys.stdout.write(f"{word} printed\n")

        words = {submit(speak, word, log=True): word for word in ("mine", "yours")}
        with listened_by_context():
            here.begin(*words)
            texts = [here.outcome(job_id).log.text() for job_id in words]
        for text, word in zip(texts, words.values(), strict=True):
            assert [text.count(one) for one in words.values()] == [2 if one == word else 0 for one in words.values()]

    def test_the_context_of_the_project_is_around_it(self, here, submit, settings):
        settings.JOBS_AROUND = f"{__name__}.in_scope"

        def tell(self):
            return value(SCOPE)

        ids = [submit(tell), submit(tell)]
        here.begin(*ids)
        for job_id in ids:
            assert value_of(here.outcome(job_id)) == str(Job.objects.get(pk=job_id).tenant_id)


class TestItsSessions:
    def test_a_body_may_use_transactions_and_leaves_nothing_for_the_next_tenant(self, runs):
        def leave(self):
            with transaction.atomic():
                sql("SELECT set_config('app.tenant', 'a stranger', false)")
                sql("CREATE TEMP TABLE left_behind (id int)")
            connection.set_autocommit(False)
            return pid_of_session()

        def look(self):
            return [
                pid_of_session(),
                connection.get_autocommit(),
                value(SCOPE),
                value("SELECT to_regclass('left_behind')"),
            ]

        value_of(runs(leave))
        before = value_of(runs(look))
        assert before[1:] == [True, "", None]
        assert value_of(runs(look)) == before  # the same session, warm

    def test_an_open_block_closes_its_session_and_no_row_of_it_is_there(self, runs, caplog):
        def leave(self):
            transaction.atomic().__enter__()
            Thing.objects.create(tenant=self.tenant)

        value_of(runs(leave))
        assert Thing.objects.count() == 1
        assert [one.event for one in caplog.records if "transaction" in getattr(one, "event", "")] == [
            "a call left a transaction open: its session was closed"
        ]

    def test_a_block_in_a_generator_ends_with_the_body_that_fails(self, runs, caplog):
        def block(tenant):
            with transaction.atomic():
                yield Thing.objects.create(tenant=tenant)

        def fail(self):
            suspended = block(self.tenant)
            next(suspended)
            raise ValueError

        assert isinstance(runs(fail).error, ValueError)
        assert Thing.objects.count() == 1
        assert not [one for one in caplog.records if "transaction" in getattr(one, "event", "")]

    def test_a_coroutine_that_it_awaits_is_in_its_session(self, runs):
        async def inner():
            return await Thing.objects.acount()

        def nest(self):
            with transaction.atomic():
                Thing.objects.create(tenant=self.tenant)
                inside = async_to_sync(inner)()
                transaction.set_rollback(True)
            return [inside, asyncio.run(inner())]

        assert value_of(runs(nest)) == [2, 1]

    def test_a_thread_that_gets_no_body_for_a_while_closes_its_session_and_ends(self, runs, monkeypatch):
        monkeypatch.setattr(threads, "KEPT", SOON)

        def tell(self):
            return pid_of_session()

        pid = value_of(runs(tell))
        wait_until(lambda: not is_there(pid) and not of_bodies(), "thread and session are gone")
        assert value_of(runs(tell)) != pid


class TestItsEnd:
    def test_at_its_limit_it_gets_what_it_gets_in_an_ordinary_process(self, runs):
        seen = []

        def go_on(self):
            try:
                while True:
                    time.sleep(0.001)
            except SoftTimeLimitExceeded as error:
                seen.append(error)
                raise

        error = runs(go_on, timeout=SOON).error
        assert (type(error), str(error)) == (TimeoutError, "timed out after 0.1 s")
        assert seen == [error.__cause__]

    def test_silent_for_too_long_it_is_interrupted_and_its_stack_is_that_of_its_thread(self, here, submit):
        told = []

        def go_on(self):
            current_job().progress(0.5)
            while True:
                time.sleep(0.001)
                told[:] = told or [here.seats.stack_of((current_job().id, 1))[0]]

        job_id = submit(go_on, silence=SOON)
        here.begin(job_id)
        assert str(here.outcome(job_id).error) == "silent for 0.1 s"
        assert told[0].splitlines()[-1].endswith(" in go_on")

    def test_asked_to_stop_it_is_cancelled_beside_the_others(self, here, submit):
        go_on, together = threading.Event(), threading.Barrier(3)

        def loop(self):
            together.wait(10)
            while not go_on.is_set():
                time.sleep(0.001)
            return True

        stopped, other = submit(loop), submit(loop)
        here.begin(stopped, other)
        together.wait(10)
        sql("UPDATE jobs SET cancel_requested_at = now() WHERE id = %s", [stopped])
        here.on_loop(here.seats.cancel, [(stopped, 1)])
        assert isinstance(here.outcome(stopped).error, Cancelled)
        assert Job.objects.get(pk=stopped).status == "cancelled"
        go_on.set()
        assert value_of(here.outcome(other)) is True

    def test_the_statement_that_it_waits_for_is_cancelled_on_the_server_and_its_session_thrown_away(self, runs):
        pids = []

        def ask(self):
            pids.append(pid_of_session())
            sql("SELECT pg_sleep(60)")

        def tell(self):
            return pid_of_session()

        assert isinstance(runs(ask, timeout=0.3).error, TimeoutError)
        wait_until(lambda: not is_there(pids[0]), "its session is gone")
        assert value_of(runs(tell)) not in pids

    def test_a_body_that_waits_on_keeps_its_seat_and_drains_the_process_as_a_coroutine_does(
        self, here, submit, settings
    ):
        settings.JOBS_TIMEOUT_GRACE = SOON
        go_on = threading.Event()

        def wait(self):
            go_on.wait(60)

        job_id = submit(wait, timeout=SOON)
        here.begin(job_id)
        wait_until(lambda: here.stuck, "it is told")
        assert [(attempt.job.id, attempt.ends) for attempt in here.stuck] == [(job_id, "limit")]
        assert (here.ended, Job.objects.get(pk=job_id).status) == ([], "running")
        go_on.set()
        assert isinstance(here.outcome(job_id).error, TimeoutError)

    def test_a_body_that_swallows_its_end_has_not_succeeded(self, runs):
        def swallow(self):
            try:
                while True:
                    time.sleep(0.001)
            except SoftTimeLimitExceeded:
                return "late"

        assert str(runs(swallow, timeout=SOON).error) == "timed out after 0.1 s"


class TestItsThread:
    """What is raised in a thread reaches the body for which it is meant, or nobody."""

    def run_after(self, body: threads.ThreadedBody, stop) -> list[object]:
        """Run this body in a thread, and another one after it; `stop` runs beside the first."""
        bodies, following = threads.BodyThreads(), threads.ThreadedBody(lambda: sum(range(100_000)))
        bodies.run(body)
        stop()
        first = body.answer.result(10)
        bodies.run(following)
        second = following.answer.result(10)
        end_threads(bodies)
        return [first, second.error, second.value]

    def test_an_end_that_comes_as_the_body_ends_spares_the_next_one(self, monkeypatch):
        begun, ends = threading.Event(), threading.Event()
        raise_in = threads.ctypes.pythonapi.PyThreadState_SetAsyncExc

        def first():
            begun.set()
            ends.wait(10)

        def raise_late(*args):
            ends.set()
            wait_until(lambda: body._is_over, "the body has ended meanwhile")
            return raise_in(*args)

        class Late:
            PyThreadState_SetAsyncExc = staticmethod(raise_late)

        monkeypatch.setattr(threads.ctypes, "pythonapi", Late)
        body = threads.ThreadedBody(first)
        with ThreadPoolExecutor(1) as interrupters:

            def stop():
                begun.wait(10)
                body.stop(Cancelled, interrupters)

            first, error, found = self.run_after(body, stop)
        assert isinstance(first.error, Cancelled)
        assert (error, found) == (None, sum(range(100_000)))

    def test_a_cancel_of_its_statement_that_comes_late_spares_that_of_the_next_body(self):
        bodies, begun, held_up = threads.BodyThreads(), threading.Event(), []

        class Late:
            def submit(self, *call):
                held_up.append(call)

        def first():
            value("SELECT 1")
            begun.set()
            while True:
                time.sleep(0.001)

        one, two = threads.ThreadedBody(first), threads.ThreadedBody(partial(sql, "SELECT pg_sleep(0.5)"))
        bodies.run(one)
        begun.wait(10)
        one.stop(Cancelled, Late())
        assert isinstance(one.answer.result(10).error, Cancelled)
        bodies.run(two)
        wait_until(lambda: value("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"), "it asks")
        [(interrupt, body)] = held_up
        interrupt(body)
        assert two.answer.result(10).error is None
        end_threads(bodies)

    def test_a_body_that_is_stopped_before_it_begins_never_does(self):
        called = []
        body = threads.ThreadedBody(lambda: called.append(True))
        with ThreadPoolExecutor(1) as interrupters:
            body.stop(Cancelled, interrupters)
        assert isinstance(body.run().error, Cancelled)
        assert called == []

    def test_a_body_that_comes_as_its_thread_gives_up_is_run(self):
        class Tired(threads.SimpleQueue):
            def get(self, timeout=None):
                if timeout is not None:
                    raise threads.Empty
                return super().get()

        bodies, waits, body = threads.BodyThreads(), Tired(), threads.ThreadedBody(int)
        waits.put(body)  # and it is not among the idle ones: the loop has taken it
        assert bodies._next(waits) is body

    def test_the_latest_idle_thread_gets_the_next_body_so_that_the_others_may_end(self):
        bodies, ends = threads.BodyThreads(), [threading.Event() for _ in range(3)]

        def wait(end):
            end.wait(10)
            return threading.get_ident()

        waiting = [threads.ThreadedBody(partial(wait, end)) for end in ends]
        for body in waiting:
            bodies.run(body)
        idents = []
        for end, body in zip(ends, waiting, strict=True):
            end.set()
            idents.append(body.answer.result(10).value)
        following = threads.ThreadedBody(threading.get_ident)
        bodies.run(following)
        assert following.answer.result(10).value == idents[-1]
        end_threads(bodies)

    def test_an_idle_thread_keeps_nothing_of_its_last_body(self, monkeypatch):
        class Large:
            pass

        monkeypatch.setattr(threads, "KEPT", 3600)
        held, bodies = Large(), threads.BodyThreads()
        gone = weakref.ref(held)
        body = threads.ThreadedBody(lambda kept=held: kept)
        bodies.run(body)
        body.answer.result(10)
        del held, body
        wait_until(lambda: gone() is None, "it is collected", limit=5)
        end_threads(bodies)
