"""What a body leaves behind in its process reaches neither its own settling nor the next body, another tenant's."""

import asyncio
import decimal
import gc
import locale
import logging
import multiprocessing
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import partial

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone, translation

from jobs import Retry, current_job, job, signals, store
from jobs.engine.attempt import session_reset
from jobs.engine.attempt.execute import execute
from jobs.engine.door.dispatch import dispatch
from jobs.engine.process.host import AttemptHost, ProcessHost
from jobs.models import FailedAttempt, Job, Lane
from jobs.store import OwnSession
from jobs.worker.children.running_table import RunningTable
from jobs.worker.children.time_limit import Timer
from tests.attempts import changed
from tests.chaos.freezing import backends
from tests.factories import TenantFactory, ThingFactory
from tests.sample.litter import Unspeakable
from tests.sample.models import Run, Thing
from tests.sql import cut, sql, value
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]


@pytest.fixture
def host(register):
    own = OwnSession()
    yield changed(AttemptHost(ProcessHost(register(concurrency=1), pool="default")), own_session=own.speaking)
    with own.speaking():
        from jobs.store import session

        session().close()


@pytest.fixture
def serve(host, sent, monkeypatch):
    """Run this body as a job of one tenant; whether its process may go on, and the job as it ended."""

    def serve(body, **options) -> tuple[bool, Job]:
        monkeypatch.setattr(Thing, "echo", job(dedup=False, **options)(lambda self: body()))
        job_id = ThingFactory().async_.echo()
        return execute(job_id, 1, host), Job.objects.get(pk=job_id)

    return serve


def rows_in_a_transaction():
    with transaction.atomic():
        yield from range(10)


kept: list[object] = []


def leak_and_succeed() -> object:
    kept.append(rows_in_a_transaction())
    Run.objects.create(job_id=0, attempt=0, pid=0)
    return next(kept[-1])


def leak_and_fail() -> None:
    for row in rows_in_a_transaction():
        raise ValueError(row)


class TestATransaction:
    @pytest.fixture(autouse=True)
    def forget(self):
        """The process that has to end is that of the tests: it gets the connection back with which it began."""
        before = connections["default"]
        yield
        kept.clear()
        if connections["default"] is not before:
            connections["default"].close()
            before.in_atomic_block = False
            before.close()  # its next session begins anew
            connections["default"] = before

    def test_left_open_in_a_generator_ends_with_the_body_and_its_process(self, serve, caplog):
        goes_on, ended = serve(leak_and_succeed)
        assert (ended.status, goes_on) == ("success", False)
        assert "process ends" in caplog.text
        assert not connection.in_atomic_block

    def test_the_open_writes_of_a_body_are_rolled_back_and_its_locks_are_free(self, serve):
        def lock() -> None:
            kept.append(rows_in_a_transaction())
            next(kept[-1])
            Job.objects.select_for_update().get(pk=current_job().id)
            Run.objects.create(job_id=1, attempt=0, pid=0)

        assert serve(lock)[1].status == "success", "it even locked its own row"
        assert not Run.objects.exists()

    def test_a_transaction_that_only_the_traceback_keeps_open_leaves_nothing_to_clean(self, serve):
        goes_on, ended = serve(leak_and_fail)
        assert (ended.status, ended.last_error, goes_on) == ("error", "ValueError: 0", True)

    @pytest.mark.parametrize("statement", ["BEGIN", "BEGIN; SELECT 1/0"])
    def test_begun_by_hand_ends_with_the_body(self, statement, serve):
        def begin() -> None:
            try:
                sql(statement)
            except Exception:
                kept.append("aborted")

        before = sql("SELECT pg_backend_pid()")
        goes_on, ended = serve(begin)
        assert (ended.status, goes_on) == ("success", True)
        assert sql("SELECT pg_backend_pid()") != before

    def test_left_by_switching_autocommit_off(self, serve):
        def switch() -> None:
            connection.set_autocommit(False)

        assert serve(switch)[0]
        assert serve(Run.objects.all().delete)[0]
        assert connection.get_autocommit()

    def test_transactions_and_settings_left_by_policies_errors_and_receivers_end_too(self, serve, subtests):
        class Told(Exception):
            def __str__(self) -> str:
                return leave(self.args[0])

        def leave(how: str, *_: object, **__: object) -> str:
            if how == "half a transaction":
                kept.append(rows_in_a_transaction())
                next(kept[-1])
            elif how:
                sql("SET statement_timeout = '7s'")
                timezone.activate("Asia/Tokyo")
                os.environ["TOKEN"] = "a tenant's"
            return "told"

        def look() -> None:
            seen = timezone.get_current_timezone_name(), os.environ.get("TOKEN"), connection.in_atomic_block
            assert (value("SHOW statement_timeout"), *seen) == ("0", "UTC", None, False)

        def run(policy: str = "", error: str = "", receiver: str = "") -> bool:
            hear = partial(leave, receiver)
            signals.job_died.connect(hear)
            try:
                retry = Retry.custom(lambda *_: leave(policy) == "", max_retries=1)
                goes_on, ended = serve(raising(Told(error)), retry=retry)
            finally:
                signals.job_died.disconnect(hear)
            assert (ended.status, ended.last_error) == ("dead", "Told: told")
            return goes_on

        for how in ("half a transaction", "settings"):
            for who in ("policy", "error", "receiver"):
                with subtests.test(who, how=how):
                    assert run(**{who: how}) == (how == "settings")
                    assert serve(look)[1].last_error == ""

    def test_no_job_follows_in_a_process_that_has_to_end(self, host, sent, monkeypatch):
        monkeypatch.setattr(Thing, "echo", job(dedup=False)(lambda self: leak_and_succeed()))
        thing = ThingFactory()
        first, _ = thing.async_.echo(), thing.async_.echo()
        assert not execute(first, 1, host)
        assert [message.id for message in sent] == [first], "it may not be able to send what it claims"
        dispatch()  # as its parent does
        assert [message.id for message in sent] == list(Job.objects.order_by("id").values_list("id", flat=True))
        assert Lane.objects.get(tenant_id=thing.tenant_id).virtual_time > 1, "its tenant pays for another process"


class TestASession:
    """Each statement is left behind by a body of one tenant; the next one is another's."""

    @pytest.mark.parametrize(
        ("statement", "question"),
        [
            ("SET search_path TO pg_catalog", "SHOW search_path"),
            ("SET ROLE pg_database_owner", "SELECT current_user"),
            ("SET statement_timeout = '7s'", "SHOW statement_timeout"),
            ("SET app.tenant = 'A'", "SELECT current_setting('app.tenant', true)"),
            ("SET timezone = 'Asia/Tokyo'", "SHOW timezone"),
            ("SET default_transaction_isolation = 'repeatable read'", "SHOW transaction_isolation"),
            ("SET default_transaction_read_only = on", "SHOW transaction_read_only"),
            ("CREATE TEMP TABLE jobs (id int)", "SELECT to_regclass('pg_temp.jobs')"),
            ("SELECT pg_advisory_lock(7)", "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND objid = 7"),
            ("LISTEN stranger", "SELECT count(*) FROM pg_listening_channels()"),
            ("DECLARE c CURSOR WITH HOLD FOR SELECT 1", "SELECT count(*) FROM pg_cursors WHERE name = 'c'"),
        ],
    )
    def test_is_clean_for_the_next_body(self, statement, question, serve):
        seen = []
        before = value(question)
        goes_on, ended = serve(lambda: bool(sql(statement)))
        assert (goes_on, ended.status) == (True, "success"), ended.last_error
        assert serve(lambda: seen.append(value(question)))[1].status == "success"
        assert seen[0] in (before, ""), "a custom setting that was once set is empty, and not null"
        assert value("SELECT current_setting('app.tenant', true)") in (None, "")

    def test_is_the_same_one_afterwards_and_keeps_its_plans(self, serve):
        pids = []
        for _ in range(2):
            serve(lambda: pids.append(connection.connection.info.backend_pid))
        assert len(set(pids)) == 1

    def test_has_the_time_zone_of_django_and_not_that_of_the_server(self, monkeypatch):
        connection.ensure_connection()
        monkeypatch.setattr(connection, "timezone_name", "Asia/Kolkata")
        assert session_reset.clean()
        assert connection.connection.info.parameter_status("TimeZone") == "Asia/Kolkata"

    def test_a_session_that_was_cut_is_replaced(self, serve):
        assert serve(cut)[1].status == "success"
        assert serve(Run.objects.count)[1].status == "success"

    def test_a_session_cut_while_the_process_was_idle_is_replaced(self, host, sent):
        job_id = ThingFactory().async_.echo()
        cut()
        assert execute(job_id, 1, host)
        assert Job.objects.values_list("status", "last_error").get() == ("success", "")

    def test_a_session_cut_while_a_job_was_settled_is_replaced_before_the_next(self, host, sent, monkeypatch):
        """PostgreSQL restarts: the settling waits for it, and then the slice goes on."""
        clean = session_reset.clean

        def clean_and_cut(*meanwhile) -> bool:
            monkeypatch.setattr(session_reset, "clean", clean)
            cleaned = clean(*meanwhile)
            cut()
            return cleaned

        monkeypatch.setattr(session_reset, "clean", clean_and_cut)
        thing = ThingFactory(tenant=TenantFactory(queue__num_slots=1))
        first, _ = thing.async_.echo(1), thing.async_.echo(2)
        assert execute(first, 1, host)
        assert list(Job.objects.values_list("status", "last_error")) == [("success", "")] * 2

    def test_a_session_of_another_database_is_cleaned_and_replaced_too(self, serve, monkeypatch):
        monkeypatch.setitem(connections.databases, "other", connections.databases["default"])
        connections["other"] = connections.create_connection("default")

        def question() -> str:
            with connections["other"].cursor() as cursor:
                return cursor.execute("SHOW statement_timeout").fetchone()[0]

        def leave() -> None:
            question()
            connections["other"].connection.execute("SET statement_timeout = '7s'")

        def cut() -> None:
            connections["other"].connection.close()

        seen = []
        try:
            for body in (leave, lambda: seen.append(question()), cut, lambda: seen.append(question())):
                goes_on, ended = serve(body)
                assert (goes_on, ended.status) == (True, "success"), ended.last_error
        finally:
            connections["other"].close()
            del connections["other"]
        assert seen == ["0", "0"]

    def test_language_and_time_zone_end_with_the_body(self, serve):
        def leave() -> None:
            translation.activate("de")
            timezone.activate("Asia/Tokyo")

        seen = []
        serve(leave)
        serve(lambda: seen.append((translation.get_language(), timezone.get_current_timezone_name())))
        assert seen == [("en-gb", "UTC")]

    def test_the_precision_of_decimals_ends_with_the_body_although_it_is_changed_in_place(self, serve):
        before = decimal.getcontext().prec  # this context has one from now on, which a copy of it shares

        def leave() -> None:
            decimal.getcontext().prec = 2

        seen = []
        serve(leave)
        serve(lambda: seen.append(decimal.getcontext().prec))
        assert seen == [before]


class TestTheProcess:
    @pytest.fixture
    def loop(self):
        with closing(asyncio.new_event_loop()) as loop:
            yield loop

    def test_is_for_the_next_body_as_it_was_for_the_last(self, serve, loop, tmp_path, subtests):
        def mask() -> int:
            before = os.umask(0o22)
            os.umask(before)
            return before

        def set_time_zone() -> None:
            os.environ["TZ"] = "Asia/Tokyo"
            time.tzset()

        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        leave = {
            "a loop, beside which Django refuses queries": partial(asyncio._set_running_loop, loop),
            "a variable": lambda: os.environ.update(TOKEN="a tenant's"),
            "a variable less": lambda: os.environ.pop("PATH"),
            "the time zone": set_time_zone,
            "a directory": lambda: os.chdir(tmp_path),
            "a mask of files": lambda: os.umask(0o777),
            "a locale": lambda: locale.setlocale(locale.LC_NUMERIC, "C.UTF-8"),
            "an impatient network": lambda: socket.setdefaulttimeout(0.001),
            "a depth": lambda: sys.setrecursionlimit(5000),
            "a place of temporary files": lambda: setattr(tempfile, "tempdir", "/nowhere"),
            "no collection of garbage": gc.disable,
            "silence": lambda: logging.disable(logging.CRITICAL),
            "a stream": lambda: setattr(sys, "stdout", None),
            "blocked signals": lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM]),
            "subprocesses whose status nobody hears": lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
            "few files": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, limits[1])),
            "a signal that ends it": lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL),
            "a stop of all processes that ends it": lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
        }
        look = {
            "loop": lambda: sql("SELECT 1"),
            "environment": lambda: dict(os.environ),
            "time zone": lambda: time.tzname,
            "directory": os.getcwd,
            "mask of files": mask,
            "locale": lambda: locale.setlocale(locale.LC_ALL),
            "network": socket.getdefaulttimeout,
            "depth": sys.getrecursionlimit,
            "temporary files": lambda: tempfile.tempdir,
            "garbage": gc.isenabled,
            "silence": lambda: logging.getLogger().isEnabledFor(logging.CRITICAL),
            "stream": lambda: sys.stdout is not None,
            "signals": lambda: signal.pthread_sigmask(signal.SIG_BLOCK, []),
            "subprocess": lambda: subprocess.run(["false"], check=False).returncode,
            "pipe": lambda: signal.getsignal(signal.SIGPIPE),
            "stop": lambda: signal.getsignal(signal.SIGTERM),
            "files": lambda: resource.getrlimit(resource.RLIMIT_NOFILE),
        }
        before = {name: ask() for name, ask in look.items()}
        for name, body in leave.items():
            with subtests.test(name):
                goes_on, ended = serve(lambda body=body: (body(), None)[1])
                assert (goes_on, ended.status) == (True, "success"), ended.last_error
                assert {name: ask() for name, ask in look.items()} == before

    def test_the_processes_of_the_next_body_have_nothing_of_the_last_but_a_pool_that_is_kept_goes_on(self, serve):
        forks = multiprocessing.get_context("forkserver")
        seen = []

        def ask() -> None:
            with forks.Pool(1) as pool:
                seen.append(pool.apply(os.getenv, ["TOKEN"]))

        def ask_with_a_token() -> None:
            os.environ["TOKEN"] = "a tenant's"
            ask()

        for body in (ask_with_a_token, ask):
            serve(body)
        assert seen == ["a tenant's", None]
        with ProcessPoolExecutor(1, forks) as pool:
            for _ in range(2):
                serve(lambda: seen.append(pool.submit(abs, -1).result()))
        assert seen[2:] == [1, 1]

    def test_ends_if_it_cannot_be_as_it_was(self, serve, tmp_path, monkeypatch, caplog):
        (tmp_path / "its own").mkdir()
        monkeypatch.chdir(tmp_path / "its own")

        def leave() -> None:
            os.chdir(tmp_path)
            (tmp_path / "its own").rmdir()

        goes_on, ended = serve(leave)
        assert (goes_on, ended.status) == (False, "success")
        assert "process ends: what a body changed of it cannot be put back" in caplog.text

    @pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
    def test_a_forked_copy_ends_where_it_leaves_the_body(self, serve):
        ours, seen = os.getpid(), []

        def fork(leave) -> None:
            if not (copy := os.fork()):
                leave()
                return  # not here: out of the body
            seen.append(os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]))

        def fail() -> None:
            raise ValueError("in the copy")

        for leave in (lambda: "an answer", sys.exit, lambda: sys.exit(3), lambda: sys.exit("a text"), fail):
            _, ended = serve(lambda leave=leave: fork(leave))
            if os.getpid() != ours:  # it went on, and has settled the job
                os._exit(99)
            assert ended.status == "success", ended.last_error
        assert seen == [0, 0, 3, 1, 1]

    @pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
    def test_a_forked_copy_has_sessions_of_its_own_and_ends_none_of_the_others(self, serve, host):
        def backends() -> list[int]:
            with host.process.own_session(), store.session().cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                return [cursor.fetchone()[0], value("SELECT pg_backend_pid()")]

        def fork() -> None:
            before = backends()
            if not (copy := os.fork()):
                session_reset.forget()  # as a worker's process does (worker/children/child.py)
                current_job().progress(0.5, "of the copy")
                os._exit(len(set(before) & set(backends())))
            assert os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]) == 0
            assert backends() == before

        _, ended = serve(fork)
        assert (ended.status, ended.progress_note) == ("success", "of the copy"), ended.last_error


def test_a_statement_that_a_time_limit_has_cut_off_does_not_go_on_in_the_server(host, sent, monkeypatch):
    def sleep() -> None:
        Job.objects.filter(pk=current_job().id).extra(select={"slept": "pg_sleep(60)"}).first()

    monkeypatch.setattr(Thing, "echo", job(timeout=0.3)(lambda self: sleep()))
    job_id = ThingFactory().async_.echo()
    before = signal.getsignal(signal.SIGALRM)
    try:
        assert execute(job_id, 1, changed(host, limit=Timer(RunningTable(1).take_entry(0, os.getpid()))))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert Job.objects.get().last_error == "TimeoutError: timed out after 0.3 s"
    wait_until(lambda: not backends("query LIKE '%%pg_sleep(60)%%' AND state = 'active'"), "nobody sleeps")


class TestReportsOfABody:
    def test_progress_is_seen_at_once_from_within_its_transaction_and_locks_nothing(self, serve, elsewhere):
        seen = []

        def report() -> None:
            with transaction.atomic():
                Run.objects.create(job_id=0, attempt=0, pid=0)
                current_job().progress(0.5, "half")
                job_id = current_job().id
                seen.append(elsewhere(lambda: Job.objects.get(pk=job_id).progress).result(timeout=10))
                locked = Job.objects.filter(pk=job_id).select_for_update(nowait=True)
                seen.append(elsewhere(transaction.atomic()(lambda: locked.get().pk)).result(timeout=10))

        _, ended = serve(report)
        assert ended.status == "success", ended.last_error
        assert seen == [0.5, ended.pk]

    def test_after_its_transaction_was_aborted_the_job_can_still_be_asked_to_stop(self, serve):
        def ask() -> None:
            with transaction.atomic():
                try:
                    sql("SELECT 1/0")
                except Exception:
                    assert not current_job().cancel_requested

        assert serve(ask)[1].status == "success"


def raising(error: BaseException):
    def body() -> None:
        raise error

    return body


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (asyncio.CancelledError(), "CancelledError: "),
        (GeneratorExit(), "GeneratorExit: "),
        (SystemExit(3), "SystemExit: 3"),
        (Unspeakable(), "Unspeakable: (its text cannot be read: RuntimeError)"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_raised_exception_is_an_outcome_and_no_crash(error, word, serve):
    goes_on, ended = serve(raising(error))
    assert (goes_on, ended.status, ended.crashes, ended.last_error) == (True, "error", 0, word)
    assert FailedAttempt.objects.count() == 1


def test_a_clean_process_stays_as_it_is():
    sql("SELECT 1")
    raw = connection.connection
    assert session_reset.clean()
    assert connection.connection is raw
