"""The log of an attempt: the end of what its code logged and printed, for operators, and only if it is asked for."""

# What is printed is the matter here:
# ruff: noqa: T201

import logging
import sys
from datetime import timedelta
from functools import partial
from types import SimpleNamespace

import pytest
from django.db import OperationalError
from django.utils import timezone

from jobs import store
from jobs.engine.attempt import body as attempt_body
from jobs.engine.attempt import captured_output
from jobs.engine.attempt.captured_output import BYTES_A_SECOND, CUT, Tail
from jobs.engine.upkeep import prune
from jobs.engine.verbs.erase import erase
from jobs.lifecycle import Status
from jobs.models import AnyJob, Job, JobLog
from jobs.reading import queries
from jobs.worker.children.child import Child
from tenants.models import TenantQueue
from tests import attempts
from tests.clock import call_at
from tests.factories import TenantFactory, make_job
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
logger = logging.getLogger("app.mail")


@pytest.fixture
def run(sent):
    return lambda job_id: attempts.run(sent, job_id)


def said(job: Job) -> str:
    return "".join(JobLog.objects.filter(job_id=job.pk, tenant=job.tenant).values_list("text", flat=True))


def talk(self) -> None:
    print("printed", 1)
    print("to stderr", file=sys.stderr)
    logger.warning("logged %s", "2")


class TestListening:
    def test_log_records_and_prints_are_kept_in_their_order(self, thing, run, body, capsys):
        body(talk, log=True)
        job = run(thing.async_.echo())
        first, second, third = said(job).splitlines()
        assert (first, second, third.partition(" ")[2]) == ("printed 1", "to stderr", "WARNING app.mail: logged 2")
        assert "printed 1" in capsys.readouterr().out  # and is printed all the same

    def test_a_job_type_that_does_not_ask_has_no_log(self, thing, run, body, monkeypatch):
        monkeypatch.setattr(store, "keep_log", lambda *_: pytest.fail("a statement"))
        body(talk)
        job = run(thing.async_.echo())
        assert (job.status, said(job)) == ("success", "")

    def test_an_empty_log_takes_no_statement(self, thing, run, body, monkeypatch):
        monkeypatch.setattr(store, "keep_log", lambda *_: pytest.fail("a statement"))
        body(lambda self: None, log=True)
        assert run(thing.async_.echo()).status == "success"

    def test_the_log_of_a_failed_attempt_is_kept_too(self, thing, run, body):
        def fail(self) -> None:
            talk(self)
            raise ValueError("no")

        body(fail, log=True)
        job = run(thing.async_.echo())
        assert (job.status, said(job).splitlines()[0]) == ("error", "printed 1")

    def test_nothing_of_it_stays_in_the_process(self, thing, run, body):
        before = sys.stdout, sys.stderr, list(logging.getLogger().handlers)

        def mess(self) -> None:
            sys.stdout = sys.stderr
            raise SystemExit

        body(mess, log=True)
        run(thing.async_.echo())
        assert (sys.stdout, sys.stderr, logging.getLogger().handlers) == before

    def test_the_lines_of_the_scheduler_are_not_among_them(self, thing, run, body, caplog):
        caplog.set_level(logging.INFO)
        body(lambda self: logging.getLogger("jobs").warning("of the scheduler"), log=True)
        assert said(run(thing.async_.echo())) == ""

    def test_characters_that_postgresql_cannot_hold_are_replaced_and_a_wrong_record_left_out(
        self, thing, run, body, monkeypatch
    ):
        monkeypatch.setattr(logging, "raiseExceptions", False)

        def odd(self) -> None:
            print("a\x00b\ud800c")
            logger.warning("%d", "no number")

        body(odd, log=True)
        assert said(run(thing.async_.echo())) == "a\N{REPLACEMENT CHARACTER}b?c\n"

    def test_the_log_of_a_body_that_runs_is_stored_while_it_grows(self, thing, sent, body, monkeypatch):
        for module in (captured_output, attempt_body):
            monkeypatch.setattr(module, "PAUSE", 0.01)

        def talk_on(self) -> None:
            for word in ("one", "two"):
                print(word)
                wait_until(JobLog.objects.filter(text__endswith=f"{word}\n").all().exists, "it is stored")
            print("three")

        body(talk_on, log=True)
        session = store.OwnSession()
        child = SimpleNamespace(own_session=session.speaking)  # a process of a worker: with a session of the engine
        job = attempts.run(sent, thing.async_.echo(), beside_a_body=partial(Child.beside_a_body, child))
        assert (job.status, said(job)) == ("success", "one\ntwo\nthree\n")
        with session.speaking():
            store.session().close()

    def test_a_log_that_cannot_be_stored_changes_no_outcome(self, thing, run, body, monkeypatch):
        def away(*_):
            raise OperationalError("away")

        monkeypatch.setattr(store, "keep_log", away)
        body(talk, log=True)
        assert run(thing.async_.echo()).status == "success"


class TestBounds:
    def test_the_end_is_kept_and_a_cut_is_told(self):
        tail = Tail(10)
        tail.add("0123456789")
        assert tail.text() == "0123456789"
        tail.add("ab")
        assert tail.text() == f"{CUT}23456789ab"
        tail.add("x" * 100)
        assert tail.text() == CUT + "x" * 10

    def test_bytes_count_and_no_character_is_broken(self):
        tail = Tail(10)
        tail.add("ü" * 10)
        assert tail.text() == CUT + "ü" * 5
        tail.add("a")
        assert tail.text() == CUT + "ü" * 4 + "a"

    def test_a_long_log_is_stored_rarely_while_it_grows_and_whole_at_the_end(self, monkeypatch):
        now, tail, kept = [100.0], Tail(), []
        monkeypatch.setattr(captured_output, "time", SimpleNamespace(monotonic=lambda: now[0]))
        for second, text in ((100, "x" * 4 * BYTES_A_SECOND), (103.9, "y"), (104, "z"), (105, "")):
            now[0] = second
            if text:
                tail.add(text)
            tail.store(kept.append)
        assert [text[-2:] for text in kept] == ["xx", "yz"], "it was not due, or had not grown"
        tail.add("end")
        for over in (False, True, True, False):
            tail.store(kept.append, over=over)
        assert [text[-3:] for text in kept[2:]] == ["end"]

    def test_a_body_that_says_much_holds_little_in_memory(self):
        tail = Tail(1000)
        for _ in range(10_000):
            tail.add("0123456789\n")
        assert tail._size <= 1000 + 11
        assert len(tail.text()) <= 1000 + len(CUT)


class TestKept:
    """By the tenant's own job alone, until the history or an erasure ends it."""

    def log_of(self, job: Job, **more) -> JobLog:
        return JobLog.objects.create(tenant=job.tenant, job_id=job.pk, attempt=job.attempt, text="said", **more)

    def test_the_same_attempt_has_one(self, thing):
        job = make_job(thing.tenant, Status.RUNNING)
        started = type("Started", (), {"id": job.pk, "attempt": 1, "tenant_id": job.tenant_id})
        for text in ("one", "two"):
            store.keep_log(started, text)
        assert queries.logs(job, 5) == [(1, "two")]

    def test_a_strangers_job_of_the_same_number_shows_none_of_it(self, thing):
        job = make_job(thing.tenant, Status.SUCCESS)
        self.log_of(job)
        stranger = AnyJob(pk=job.pk, tenant=TenantFactory())
        assert (len(queries.logs(job, 5)), queries.logs(stranger, 5)) == (1, [])

    def test_a_log_is_erased_with_the_ended_jobs_of_its_tenant_alone(self, thing):
        mine, under_way = make_job(thing.tenant, Status.SUCCESS), make_job(thing.tenant, Status.RUNNING)
        strangers = make_job(TenantFactory(), Status.SUCCESS)
        for job in (mine, under_way, strangers):
            self.log_of(job)
        erase(thing.tenant.pk)
        assert set(JobLog.objects.values_list("job_id", flat=True)) == {under_way.pk, strangers.pk}

    def test_a_log_goes_with_the_history_of_its_tenant(self, thing, settings, monkeypatch):
        monkeypatch.setattr(prune, "BATCH", 1)
        settings.JOBS_HISTORY_KEEP, now = 10, timezone.now()
        short = TenantFactory()
        TenantQueue.objects.filter(tenant=short).update(history_days=2)
        ages = {thing.tenant: (11, 12, 9), short: (3, 1)}
        for tenant, days in ages.items():
            for ago in days:
                self.log_of(make_job(tenant, Status.SUCCESS), at=now - timedelta(days=ago))
        call_at(now, prune.prune)
        kept = [(log.tenant, (now - log.at).days) for log in JobLog.objects.order_by("pk")]
        assert kept == [(thing.tenant, 9), (short, 1)]

    def test_the_logs_of_a_deleted_tenant_go(self, thing):
        self.log_of(make_job(thing.tenant, Status.SUCCESS))
        JobLog.objects.update(tenant_id=10**6)
        prune.prune()
        assert not JobLog.objects.exists()
