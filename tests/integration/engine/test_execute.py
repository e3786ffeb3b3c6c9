"""One attempt, executed in this process: however its body ends, it is settled once, and the next job goes."""

import os
import socket
import uuid
from datetime import timedelta

import psycopg
import pytest
from django.db import OperationalError, connection

from jobs import async_, current_job, store
from jobs.engine.attempt import failures
from jobs.engine.attempt.execute import execute
from jobs.engine.door.dispatch import dispatch
from jobs.engine.process import patience
from jobs.engine.process.host import AttemptHost, ProcessHost
from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL, FailedAttempt, Job
from jobs.store import Seat, results
from tests import attempts
from tests.clock import call_at
from tests.factories import TenantFactory, make_job
from tests.sample.models import Exhibit, Run, Shown, Thing
from tests.sql import cut

pytestmark = pytest.mark.django_db(transaction=True)

WORKER = uuid.uuid4()


@pytest.fixture
def run(sent):
    """Execute the message that was sent last; the job as it is then."""

    def run(job_id: int, **options) -> Job:
        return attempts.run(sent, job_id, **{"worker": WORKER} | options)

    return run


class TestSuccess:
    def test_the_value_goes_to_the_cache_and_the_rest_to_the_row(self, thing, run):
        ended = run(thing.async_.echo("ü", times=2))
        assert (ended.status, ended.worker, ended.stats, ended.last_error) == ("success", WORKER, {"times": 2}, "")
        assert results.load(ended).value == ["ü", "ü"]
        assert ended.queued_at <= ended.start_time <= ended.end_time

    def test_nothing_is_a_result_too(self, thing, run, body):
        body(lambda self: None)
        assert results.load(run(thing.async_.echo())) == results.Result(None)

    def test_the_method_says_how_long_its_result_is_kept(self, thing, run, body, settings):
        kept = run(thing.async_.echo())
        assert near(kept.result_expires_at - kept.end_time, settings.JOBS_RESULT_TTL)
        body(lambda self: 1, result_ttl=500)
        kept = run(thing.async_.echo())
        assert near(kept.result_expires_at - kept.end_time, 500)

    def test_the_body_knows_its_job_and_forgets_it_afterwards(self, thing, run, body):
        seen = []
        body(lambda self: seen.append(current_job()))
        ended = run(thing.async_(timeout=7).echo())
        (current,) = seen
        assert (current.id, current.attempt, current.tenant, current.timeout) == (ended.pk, 1, thing.tenant, 7)
        assert current_job().id is None

    def test_progress_is_seen_while_the_body_runs(self, thing, run, body):
        seen = []

        def show(self) -> None:
            current_job().progress(0.25, "a quarter")
            seen.append(Job.objects.values_list("status", "progress", "progress_note").get())

        body(show)
        assert run(thing.async_.echo()).progress == 1
        assert seen == [("running", 0.25, "a quarter")]

    def test_a_job_of_the_class_is_called_on_the_class(self, thing, run):
        ended = run(Thing.async_(tenant=thing.tenant).everything(region="EU"))
        assert results.load(ended).value == f"{thing.tenant} EU"

    def test_the_freed_slot_goes_to_the_next_job_without_the_clock(self, thing, run, sent):
        first, second = thing.async_.echo(1), thing.async_.echo(2)
        assert [message.id for message in sent] == [first]
        run(first)
        assert [message.id for message in sent] == [first, second]


class TestError:
    def test_an_exception_is_kept_with_its_place(self, thing, run):
        ended = run(thing.async_.refuse("the disk is full"))
        assert (ended.status, ended.last_error) == ("error", "ValueError: the disk is full")
        kept = FailedAttempt.objects.get(job=ended)
        assert (kept.attempt, kept.error_class, kept.error) == (1, "ValueError", "the disk is full")
        assert "in refuse" in kept.traceback
        assert ended.result_expires_at is None
        assert results.load(ended) is None

    def test_the_log_names_the_class_of_a_failure_and_its_text_only_in_a_traceback(self, thing, run, caplog, settings):
        with caplog.at_level("INFO", logger="jobs"):
            job = run(thing.async_.refuse("of the owner"))
            assert f"fail job={job.pk} attempt=1 error=ValueError" in caplog.text
            assert "of the owner" not in " ".join(record.getMessage() for record in caplog.records)
            caplog.clear()
            settings.JOBS_LOG_TRACEBACKS = False
            job = run(thing.async_.refuse("of the owner"))
        assert f"fail job={job.pk} attempt=1 error=ValueError" in caplog.text
        assert "of the owner" not in caplog.text

    def test_a_body_that_exits_has_failed_and_ends_nothing_else(self, thing, run, body):
        body(raising(SystemExit(3)))
        ended = run(thing.async_.echo())
        assert (ended.status, ended.last_error) == ("error", "SystemExit: 3")

    def test_an_interrupt_is_for_the_process_and_leaves_the_job_to_recover(self, thing, run, body):
        body(raising(KeyboardInterrupt()))
        job_id = thing.async_.echo()
        limit = attempts.Limit()
        with pytest.raises(KeyboardInterrupt):
            run(job_id, limit=limit)
        assert Job.objects.get(pk=job_id).status == "running"
        assert limit.calls[-1] == "disarm"
        assert current_job().id is None

    def test_what_says_that_time_is_up_is_a_timeout(self, thing, run, body):
        body(raising(attempts.Alarm()))
        ended = run(thing.async_(timeout=2.5).echo())
        assert ended.last_error == "TimeoutError: timed out after 2.5 s"
        assert FailedAttempt.objects.get().error_class == "TimeoutError"

    def test_what_postgresql_cannot_hold_is_replaced_in_an_error(self, thing, run, body):
        body(raising(ValueError("nul \x00, surrogate \ud800")))
        ended = run(thing.async_.echo())
        assert ended.last_error == "ValueError: nul \N{REPLACEMENT CHARACTER}, surrogate ?"

    def test_a_long_error_is_cut(self, thing, run, body):
        body(raising(ValueError("x" * 100_000)))
        run(thing.async_.echo())
        kept = FailedAttempt.objects.get()
        assert len(kept.error) == failures.ERROR_LENGTH
        assert len(kept.traceback) == failures.TRACEBACK_LENGTH

    @pytest.mark.parametrize(
        "spoilt", [object(), float("nan"), {1: 2}, "\x00"], ids=["object", "nan", "number as key", "nul"]
    )
    def test_stats_that_are_not_json_are_an_error_that_names_them(self, spoilt, thing, run, body):
        body(lambda self: current_job().stats.update(rows=spoilt))
        ended = run(thing.async_.echo())
        assert ended.status == "error"
        assert "stats.rows" in ended.last_error

    def test_stats_that_are_not_json_do_not_hide_the_error(self, thing, run, body):
        def spoil(self) -> None:
            current_job().stats.update(rows=object())
            raise ValueError("the disk is full")

        body(spoil)
        ended = run(thing.async_.echo())
        assert (ended.status, ended.last_error) == ("error", "ValueError: the disk is full")

    def test_stats_of_an_attempt_that_failed_are_kept(self, thing, run, body):
        def count(self) -> None:
            current_job().stats.update(rows=3)
            raise ValueError("the disk is full")

        body(count)
        assert run(thing.async_.echo()).stats == {"rows": 3}

    def test_the_freed_slot_goes_to_the_next_job_after_an_error_too(self, thing, run, sent):
        first, second = thing.async_.refuse(), thing.async_.echo()
        run(first)
        assert [message.id for message in sent] == [first, second]


class TestResult:
    def test_what_is_not_json_is_an_error(self, thing, run):
        ended = run(thing.async_.unjson())
        assert (ended.status, ended.result_expires_at) == ("error", None)
        assert ended.last_error.startswith("ResultRefused: the result is not JSON: Object of type object")

    @pytest.mark.parametrize("value", [float("nan"), {(1, 2): 3}, 10**5000], ids=["nan", "key", "digits"])
    def test_what_json_cannot_hold_is_an_error(self, value, thing, run, body):
        body(lambda self: value)
        assert "the result is not JSON" in run(thing.async_.echo()).last_error

    def test_a_key_that_is_no_text_is_an_error_since_json_would_make_one_of_two(self, thing, run, body):
        for value in ({1: "a", "1": "b"}, {None: 1}, {2.5: 1}, {True: 1}, {"rows": [({"a": 1}, [{7: 8}])]}):
            body(lambda self, value=value: value)
            said = run(thing.async_(dedup=False).echo()).last_error
            assert said.startswith("ResultRefused: the result is not JSON: it has the key ")
            assert said.endswith("; keys must be text")
        body(lambda self: {"a": [{"b": ({"c": 1},)}], "d": (1, None, 2.5, True)})
        assert run(thing.async_(dedup=False).echo()).status == "success"

    def test_one_that_contains_itself_is_an_error(self, thing, run, body):
        loop: list[object] = []
        loop.append(loop)
        body(lambda self: loop)
        assert "the result is not JSON" in run(thing.async_.echo()).last_error

    def test_one_that_is_too_large_is_an_error_that_says_the_limit(self, thing, run, settings):
        settings.JOBS_RESULT_MAX_BYTES = 102
        assert run(thing.async_.large(100)).status == "success"
        ended = run(thing.async_.large(101))
        assert ended.last_error == (
            "ResultRefused: the result takes 103 bytes; JOBS_RESULT_MAX_BYTES allows 102: return less"
        )

    def test_without_a_cache_the_job_succeeds_and_says_that_no_result_was_kept(self, thing, run, dead_cache):
        ended = run(thing.async_.echo())
        assert (ended.status, ended.result_expires_at) == ("success", None)
        assert results.load(ended) is None

    def test_a_cache_that_is_lost_later_has_no_result(self, thing, run, request):
        ended = run(thing.async_.echo())
        assert results.load(ended)
        request.getfixturevalue("dead_cache")
        assert results.load(ended) is None


class TestWhatTheJobNames:
    """It was so at the submit; the method is called on what is there now."""

    def test_an_object_that_was_deleted_is_gone(self, thing, run):
        pk, job_id = thing.pk, thing.async_.echo()
        thing.delete()
        assert run(job_id).last_error == f"SourceGone: sample.thing {pk} is gone, or is another tenant's"

    def test_no_retry_looks_again_for_what_is_gone_and_nobody_is_told_of_a_death(self, thing, run):
        job_id = thing.async_(max_retries=5).fail_first()
        thing.delete()
        ended = run(job_id)
        assert (ended.status, ended.attempt, ended.retries) == ("error", 1, 0)

    def test_an_object_that_its_models_manager_hides_is_said_to_be_that_or_gone(self, thing, run, monkeypatch):
        exhibit = Exhibit.objects.create(tenant=thing.tenant)
        monkeypatch.setattr(Shown, "hidden", {exhibit.pk})
        said = f"sample.exhibit {exhibit.pk} is gone, or is another tenant's, or hidden: the default manager of its"
        said += " model does not find it"
        assert run(async_(exhibit.dust)()).last_error == f"SourceGone: {said}"

    def test_an_object_that_is_another_tenants_now_is_as_one_that_is_gone(self, thing, run):
        job_id = thing.async_.echo()
        Thing.objects.update(tenant=TenantFactory())
        assert "is gone" in run(job_id).last_error
        assert not Run.objects.exists()

    def test_a_method_that_is_no_job_any_more_is_not_called(self, thing, run, monkeypatch):
        job_id = thing.async_.echo()
        monkeypatch.setattr(Thing, "echo", lambda self: Run.objects.create(job_id=0, attempt=0, pid=0))
        ended = run(job_id)
        assert (ended.status, "restart this worker" in ended.last_error) == ("scheduled", True)
        assert not Run.objects.exists()

    def test_arguments_that_do_not_fit_any_more_are_an_error(self, thing, run, body):
        job_id = thing.async_.echo("old")
        body(lambda self: None)
        assert run(job_id).last_error.startswith("TypeError: ")


class TestTheFence:
    @pytest.mark.parametrize("shift", [-1, 1])
    def test_a_message_of_another_attempt_starts_nothing(self, shift, thing, sent):
        job_id = thing.async_.echo()
        execute(job_id, 1 + shift, AttemptHost(ProcessHost(WORKER)))
        assert Job.objects.get().status == "queued"
        assert not Run.objects.exists()

    def test_a_doubled_message_starts_nothing_more(self, thing, run):
        job_id = thing.async_.echo("once")
        run(job_id)
        assert run(job_id).status == "success"
        assert Run.objects.count() == 1

    @pytest.mark.parametrize("whose", ["of another tenant", "of the same tenant"])
    def test_a_result_of_a_lost_job_is_not_that_of_the_job_that_got_its_number(self, whose, thing, run, body):
        """A failover to a standby that lacked the last commits: the body of the lost job ends after the new job."""
        body(lambda self: f"the secret of {self.tenant}")
        lost = run(thing.async_.echo())
        Job.objects.filter(pk=lost.pk).delete()
        tenant = lost.tenant if whose == "of the same tenant" else TenantFactory()
        again = make_job(tenant, Status.SUCCESS, pk=lost.pk, result_expires_at=HELD_UNTIL, result_bytes=9)
        assert results.load(lost)
        assert results.load(again) is None

    @pytest.mark.parametrize("end", [lambda: "late", lambda: 1 / 0], ids=["value", "error"])
    def test_a_holder_that_was_taken_for_dead_changes_nothing(self, end, thing, run, body, caplog):
        def outlive(self) -> object:
            assert store.take_back(current_job().id, 1, store.Failure("WorkerGone", "taken for dead"), 3) == "scheduled"
            store.progress(current_job().id, 1, Seat(WORKER, os.getpid()), 0.5, "stale")
            return end()

        body(outlive)
        job_id = thing.async_.echo()
        with caplog.at_level("INFO", logger="jobs"):
            again = run(job_id)
        assert [line.split(" ", 1)[1] for line in caplog.messages if "ignored" in line] == [
            f"ignored job={job_id} attempt=1 because=not the present attempt"
        ]
        assert (again.status, again.attempt, again.crashes) == ("scheduled", 1, 1)
        assert (again.stats, again.progress) == ({}, None)
        assert FailedAttempt.objects.count() == 1
        body(lambda self: "new")
        call_at(again.due_at, store.promote)
        dispatch()
        assert results.load(run(job_id)).value == "new"


class TestALostDatabase:
    def test_an_outcome_outlives_the_connection(self, thing, run, body):
        lost = []

        def cut(self) -> None:
            lost.append(connection.connection.info.backend_pid)
            with psycopg.connect(**connection.get_connection_params()) as other:
                assert other.execute("SELECT pg_terminate_backend(%s, 10000)", lost[-1:]).fetchone() == (True,)

        def cut_and_fail(self) -> None:
            cut(self)
            raise ZeroDivisionError("no")

        for one, outcome in [(cut, ("success", "")), (cut_and_fail, ("error", "ZeroDivisionError: no"))]:
            body(one)
            ended = run(thing.async_.echo())
            assert (ended.status, ended.last_error) == outcome
            assert ended.attempt == 1
            assert connection.connection.info.backend_pid not in lost

    def test_a_body_that_misses_the_database_has_failed(self, thing, run, body):
        def miss(self) -> None:
            cut()
            Run.objects.count()

        body(miss)
        ended = run(thing.async_.echo())
        assert (ended.status, ended.last_error.partition(":")[0]) == ("error", "OperationalError")

    def test_a_dispatch_that_misses_it_fails_as_django_says_and_the_next_one_works(self, thing, sent):
        job_id = make_job(thing.tenant).pk
        cut()
        with pytest.raises(OperationalError):
            dispatch()
        assert dispatch() == 1
        assert [message.id for message in sent] == [job_id]

    def test_an_outcome_is_stored_though_the_session_is_lost_before_the_clock_is_told(self, thing, run, monkeypatch):
        retry = store.retry

        def retry_and_cut(*args: object, **options: object) -> bool:
            done = retry(*args, **options)
            cut()
            return done

        monkeypatch.setattr(store, "retry", retry_and_cut)
        ended = run(thing.async_.fail_first())
        assert (ended.status, ended.retries) == ("scheduled", 1)

    def test_in_the_end_it_is_given_up(self, thing, run, monkeypatch):
        def away(*args: object, **kwargs: object) -> bool:
            raise OperationalError("away")

        monkeypatch.setattr(patience, "DATABASE_PATIENCE", 0.0)
        job_id = thing.async_.echo()
        with monkeypatch.context() as patched:
            patched.setattr(store, "succeed", away)
            with pytest.raises(OperationalError, match="away"):
                run(job_id)
        assert Job.objects.get().status == "running"


def test_the_limit_does_not_hit_the_settling(thing, run):
    class Watch(attempts.Limit):
        def disarm(self) -> None:
            self.calls.append(Job.objects.get().status)

    limit = Watch()
    run(thing.async_.echo(), limit=limit)
    assert [call for call in limit.calls if not call.startswith("arm")] == 4 * ["running"]


@pytest.fixture
def dead_cache(settings):
    """A cache at a port where nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        address = f"redis://127.0.0.1:{bound.getsockname()[1]}"
        settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": address}}
        yield


def raising(error: BaseException):
    def body(self) -> None:
        raise error

    return body


def near(found: timedelta, seconds: float) -> bool:
    return abs(found.total_seconds() - seconds) < 60  # the result is kept before the end is noted
