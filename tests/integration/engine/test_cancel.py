"""Cancel: waiting work at once; running work on request, and its slot is free when the code has really stopped."""

from datetime import timedelta
from functools import partial

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs import Retry, RetryLater, current_job, store
from jobs.authoring.exceptions import Cancelled
from jobs.engine.attempt.settle import Outcome, settle
from jobs.engine.process.user_code import in_a_thread
from jobs.engine.upkeep import recover
from jobs.engine.verbs.cancel import Cancellation, cancel, cancel_all
from jobs.engine.verbs.revive import revive
from jobs.lifecycle import FINAL, Status
from jobs.models import FailedAttempt, Job
from jobs.reading import queries
from jobs.reading.explain.explanation import explain
from jobs.store import EVERY_TENANT, Failure, Started
from tests.attempts import WORKER, run
from tests.clock import call_at
from tests.factories import TenantFactory, make_job
from tests.sql import sql
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

NOWHERE = 2**31  # an id that no job has
CRASH = Failure("ProcessDied", "signal 9")
BEFORE_RUNNING = [Status.SCHEDULED, Status.CREATED, Status.QUEUED]


@pytest.fixture
def running(thing, body) -> Started:
    """An attempt that is under way; its method would be tried again."""
    body(lambda self: None, retry=Retry.every(300, max_retries=5))
    started = store.start(thing.async_.echo(), 1, store.Seat.here(WORKER))
    assert started is not None
    return started


def now_is(job_id: int) -> Job:
    return Job.objects.get(pk=job_id)


def asked_to_stop(end=lambda: None):
    """A body that is asked to stop, twice, and then ends in this way."""

    def body(self) -> object:
        job_id = current_job().id
        current_job().stats["rows"] = 3
        for _ in range(2):
            assert cancel(job_id, tenant_id=EVERY_TENANT) == Cancellation.REQUESTED
        assert (now_is(job_id).status, now_is(job_id).slot) == ("running", 1)
        return end()

    return body


def raises(error: BaseException):
    def end() -> None:
        raise error

    return end


class TestWaiting:
    @pytest.mark.parametrize("status", BEFORE_RUNNING)
    def test_a_job_that_has_not_started_never_does(self, status, thing):
        job = make_job(thing.tenant, status)
        assert cancel(job.pk, tenant_id=EVERY_TENANT) == Cancellation.CANCELLED
        cancelled = now_is(job.pk)
        assert (cancelled.status, cancelled.slot, cancelled.end_time is None) == ("cancelled", None, False)
        assert store.start(job.pk, job.attempt, store.Seat.here(WORKER)) is None
        assert call_at(timezone.now() + timedelta(days=1), store.promote) == []
        assert store.claim() == []

    def test_the_slot_of_a_queued_one_goes_to_the_next(self, thing, sent):
        first, second = thing.async_.echo(), thing.async_.again()
        cancel(first, tenant_id=EVERY_TENANT)
        assert [message.id for message in sent] == [first, second]

    def test_a_retry_that_waits_is_cancelled_too(self, thing, body, sent):
        body(raises_in_body(ValueError()), retry=Retry.every(300, max_retries=1))
        job_id = thing.async_.echo()
        assert run(sent, job_id).status == "scheduled"
        assert cancel(job_id, tenant_id=EVERY_TENANT) == Cancellation.CANCELLED
        assert now_is(job_id).due_at is None

    @pytest.mark.parametrize("status", sorted(FINAL))
    def test_for_one_that_has_ended_it_is_too_late(self, status, thing):
        job = make_job(thing.tenant, status, died_at=timezone.now() if status == Status.DEAD else None)
        before = Job.objects.values().get(pk=job.pk)
        assert cancel(job.pk, tenant_id=EVERY_TENANT) == Cancellation.TOO_LATE
        assert Job.objects.values().get(pk=job.pk) == before


class TestRunning:
    def test_code_that_lets_itself_be_stopped_ends_cancelled_and_keeps_its_stats(self, thing, body, sent):
        body(asked_to_stop(lambda: current_job().check_cancelled()), retry=Retry.every(1, max_retries=5))
        ended = run(sent, thing.async_.echo())
        assert (ended.status, ended.attempt, ended.retries, ended.stats) == ("cancelled", 1, 0, {"rows": 3})
        assert ended.last_error == ""
        assert not FailedAttempt.objects.exists()

    def test_code_can_ask_by_itself_and_end_as_it_likes(self, thing, body, sent):
        seen = []

        def end() -> str:
            seen.append(current_job().cancel_requested)
            return "half of it"

        body(asked_to_stop(end))
        assert run(sent, thing.async_.echo()).status == "success"
        assert seen == [True]

    def test_code_that_nobody_asked_goes_on(self, thing, body, sent):
        body(lambda self: current_job().check_cancelled())
        assert run(sent, thing.async_.echo()).status == "success"

    def test_code_that_says_so_without_having_been_asked_has_failed(self, thing, body, sent):
        body(raises_in_body(Cancelled("just so")))
        ended = run(sent, thing.async_.echo())
        assert ended.status == "error"
        assert "was not asked to stop" in ended.last_error

    @pytest.mark.parametrize("error", [ValueError("no"), RetryLater(1)], ids=["a failure", "RetryLater"])
    def test_a_job_with_retries_left_is_cancelled_instead(self, error, thing, body, sent):
        body(asked_to_stop(raises(error)), retry=Retry.every(1, max_retries=5))
        ended = run(sent, thing.async_.echo())
        assert (ended.status, ended.due_at, ended.slot) == ("cancelled", None, None)

    @pytest.mark.parametrize("verb", ["stop", "fail"])
    def test_the_log_tells_its_end_and_not_the_verb_that_was_tried_first(self, verb, thing, body, sent, caplog):
        ends = {"stop": asked_to_stop(raises(ValueError("no"))), "fail": raises_in_body(Cancelled("just so"))}
        body(ends[verb], retry=Retry.every(1, max_retries=5))
        with caplog.at_level("INFO", logger="jobs"):
            job = run(sent, thing.async_.echo())
        assert f"{verb} job={job.pk} attempt=1" in caplog.text
        assert "ignored" not in caplog.text

    def test_its_failure_is_kept(self, thing, body, sent):
        body(asked_to_stop(raises(ValueError("no"))), retry=Retry.every(1, max_retries=5))
        ended = run(sent, thing.async_.echo())
        assert (ended.status, ended.last_error, ended.stats) == ("cancelled", "ValueError: no", {"rows": 3})
        kept = FailedAttempt.objects.get()
        assert (kept.job_id, kept.attempt, kept.error_class, kept.error) == (ended.pk, 1, "ValueError", "no")
        assert "raise error" in kept.traceback
        assert (kept.worker, kept.queued_at) == (ended.worker, ended.queued_at)
        assert (kept.start_time, kept.end_time) == (ended.start_time, ended.end_time)

    def test_a_cancelled_job_that_asks_for_a_later_retry_has_not_failed(self, thing, body, sent):
        body(asked_to_stop(raises(RetryLater(1))))
        ended = run(sent, thing.async_.echo())
        assert (ended.status, ended.last_error, FailedAttempt.objects.count()) == ("cancelled", "", 0)

    def test_a_job_that_fails_without_retries_is_an_error(self, thing, body, sent):
        body(asked_to_stop(raises(ValueError("no"))))
        ended = run(sent, thing.async_.echo())
        assert (ended.status, ended.last_error) == ("error", "ValueError: no")

    def test_its_slot_goes_to_the_next_when_it_has_stopped_and_not_when_it_is_asked(self, thing, body, sent):
        waiting = []

        def stop() -> None:
            waiting.append(thing.async_.again())
            assert now_is(waiting[0]).status == "created"
            current_job().check_cancelled()

        body(asked_to_stop(stop))
        run(sent, thing.async_.echo())
        assert [message.id for message in sent][1:] == waiting

    def test_the_first_request_says_when(self, running):
        store.request_cancel([running.id], tenant_id=EVERY_TENANT)
        first = now_is(running.id).cancel_requested_at
        call_at(timezone.now() + timedelta(hours=1), store.request_cancel, [running.id], tenant_id=EVERY_TENANT)
        assert now_is(running.id).cancel_requested_at == first


class TestCrashes:
    def test_a_job_asked_to_stop_that_crashes_is_cancelled_and_the_crash_kept(self, running):
        cancel(running.id, tenant_id=EVERY_TENANT)
        recover.take_back(running.id, 1, CRASH)
        ended = now_is(running.id)
        assert (ended.status, ended.attempt, ended.crashes, ended.slot) == ("cancelled", 1, 1, None)
        assert FailedAttempt.objects.get().error_class == "ProcessDied"

    def test_a_job_asked_to_stop_with_its_last_crash_is_cancelled(self, running, settings):
        settings.JOBS_MAX_CRASHES = 1
        cancel(running.id, tenant_id=EVERY_TENANT)
        recover.take_back(running.id, 1, CRASH)
        assert (now_is(running.id).status, now_is(running.id).died_at) == ("cancelled", None)

    def test_a_job_asked_to_stop_that_meets_its_hard_limit_is_cancelled(self, running):
        cancel(running.id, tenant_id=EVERY_TENANT)
        Job.objects.update(timeout=2.5)
        recover.time_out(running.id, 1)
        assert now_is(running.id).status == "cancelled"
        assert FailedAttempt.objects.get().error == "timed out after 2.5 s and was killed"


class TestRights:
    @pytest.mark.parametrize("status", [*BEFORE_RUNNING, Status.RUNNING])
    def test_its_owner_may_and_a_stranger_cannot_tell_it_from_none(self, status):
        owner, stranger = TenantFactory(), TenantFactory()
        job = make_job(owner, status)
        before = Job.objects.values().get(pk=job.pk)
        assert cancel(job.pk, tenant_id=stranger.pk) == cancel(NOWHERE, tenant_id=stranger.pk) == Cancellation.TOO_LATE
        assert Job.objects.values().get(pk=job.pk) == before
        assert cancel(job.pk, tenant_id=owner.pk) != Cancellation.TOO_LATE


class TestRaces:
    """What the other one does is held uncommitted, until the one that is looked at waits for its row."""

    @pytest.fixture
    def meanwhile(self, elsewhere, blocked):
        """Ask in a thread, and wait until it stands before the row."""

        def meanwhile(function, *args):
            asked = elsewhere(function, *args)
            wait_until(lambda: blocked() == 1 or asked.done(), "it waits for the row")
            assert not asked.done()
            return asked

        return meanwhile

    def test_a_retry_that_commits_first_is_cancelled_as_it_waits(self, running, meanwhile):
        with transaction.atomic():
            assert store.retry(running.id, 1, Failure("ValueError", "no"), delay=300)
            asked = meanwhile(partial(cancel, tenant_id=EVERY_TENANT), running.id)
        assert asked.result(30) == Cancellation.CANCELLED
        assert (now_is(running.id).status, now_is(running.id).due_at) == ("cancelled", None)

    def test_a_retry_that_rolls_back_leaves_a_running_job_to_be_asked(self, running, meanwhile):
        with transaction.atomic():
            assert store.retry(running.id, 1, Failure("ValueError", "no"), delay=300)
            asked = meanwhile(partial(cancel, tenant_id=EVERY_TENANT), running.id)
            transaction.set_rollback(True)
        assert asked.result(30) == Cancellation.REQUESTED
        assert now_is(running.id).status == "running"

    @pytest.mark.parametrize("error", [ValueError("no"), RetryLater(1)], ids=["retry", "snooze"])
    def test_a_request_that_commits_first_lets_nothing_be_tried_again(self, error, running, meanwhile):
        with transaction.atomic():
            assert cancel(running.id, tenant_id=EVERY_TENANT) == Cancellation.REQUESTED
            settling = meanwhile(settle, running, Outcome(error=error), in_a_thread)
        settling.result(30)
        assert now_is(running.id).status == "cancelled"

    def test_a_request_that_rolls_back_leaves_the_retry(self, running, meanwhile):
        with transaction.atomic():
            assert cancel(running.id, tenant_id=EVERY_TENANT) == Cancellation.REQUESTED
            settling = meanwhile(settle, running, Outcome(error=ValueError("no")), in_a_thread)
            transaction.set_rollback(True)
        settling.result(30)
        assert now_is(running.id).status == "scheduled"

    def test_a_crash_that_is_taken_back_first_is_cancelled_as_it_waits(self, running, meanwhile):
        with transaction.atomic():
            assert store.take_back(running.id, 1, CRASH, 3) == "scheduled"
            asked = meanwhile(partial(cancel, tenant_id=EVERY_TENANT), running.id)
        assert asked.result(30) == Cancellation.CANCELLED
        assert now_is(running.id).status == "cancelled"

    def test_a_request_that_commits_first_lets_no_crash_be_taken_back(self, running, elsewhere):
        with transaction.atomic():
            assert cancel(running.id, tenant_id=EVERY_TENANT) == Cancellation.REQUESTED
            taking = elsewhere(recover.take_back, running.id, 1, CRASH)
            assert not taking.result(30)  # it does not wait for the row, and comes again
        assert recover.take_back(running.id, 1, CRASH)
        assert now_is(running.id).status == "cancelled"

    def test_a_success_that_commits_first_makes_it_too_late(self, running, meanwhile):
        with transaction.atomic():
            assert store.succeed(running.id, 1, {}, None)
            asked = meanwhile(partial(cancel, tenant_id=EVERY_TENANT), running.id)
        assert asked.result(30) == Cancellation.TOO_LATE
        assert now_is(running.id).status == "success"

    def test_a_request_that_commits_first_takes_no_success_away(self, running, meanwhile):
        with transaction.atomic():
            assert cancel(running.id, tenant_id=EVERY_TENANT) == Cancellation.REQUESTED
            settling = meanwhile(settle, running, Outcome(value="done"), in_a_thread)
        settling.result(30)
        assert now_is(running.id).status == "success"

    def test_a_start_that_commits_first_leaves_a_running_job_to_be_asked(self, thing, meanwhile):
        job_id = thing.async_.echo()
        with transaction.atomic():
            assert store.start(job_id, 1, store.Seat.here(WORKER))
            asked = meanwhile(partial(cancel, tenant_id=EVERY_TENANT), job_id)
        assert asked.result(30) == Cancellation.REQUESTED

    def test_a_cancel_that_commits_first_lets_nothing_start(self, thing, meanwhile):
        job_id = thing.async_.echo()
        with transaction.atomic():
            assert cancel(job_id, tenant_id=EVERY_TENANT) == Cancellation.CANCELLED
            starting = meanwhile(store.start, job_id, 1, store.Seat.here(WORKER))
        assert starting.result(30) is None
        assert now_is(job_id).status == "cancelled"


def raises_in_body(error: BaseException):
    def body(self) -> None:
        raise error

    return body


def test_many_are_cancelled_by_as_many_statements_as_one(django_assert_max_num_queries):
    tenant, stranger = TenantFactory(), TenantFactory()
    waiting = [make_job(tenant, status).pk for status in (*BEFORE_RUNNING, *[Status.CREATED] * 20)]
    runs, ended, theirs = (
        make_job(tenant, Status.RUNNING).pk,
        make_job(tenant, Status.SUCCESS).pk,
        make_job(stranger).pk,
    )
    with transaction.atomic(), django_assert_max_num_queries(6):
        outcomes = cancel_all([NOWHERE, theirs, ended, runs, *reversed(waiting)], tenant_id=tenant.pk)
    assert outcomes == {
        **dict.fromkeys((NOWHERE, theirs, ended), "too late"),
        runs: "requested",
        **dict.fromkeys(waiting, "cancelled"),
    }
    assert set(Job.objects.filter(pk__in=waiting).values_list("status", flat=True)) == {"cancelled"}
    assert (now_is(theirs).status, now_is(runs).cancel_requested_at is None) == ("created", False)


def test_two_who_cancel_the_same_in_opposite_order_do_not_deadlock_and_a_hold_waits_for_nobody(
    onlooker, elsewhere, blocked
):
    """All take the rows in the order of their ids: who has not got the first one has none."""
    last, first = (make_job(TenantFactory(), pk=2**40 + odd) for odd in (1, 0))  # so they lie in the table
    onlooker.execute("BEGIN")
    onlooker.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [first.pk])
    acting = elsewhere(partial(store.cancel, [last.pk, first.pk], tenant_id=EVERY_TENANT))
    wait_until(lambda: blocked() == 1, "it waits for the first one")
    onlooker.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE NOWAIT", [last.pk])
    onlooker.execute("ROLLBACK")
    assert {job.id for job in acting.result()} == {last.pk, first.pk}
    mine, theirs = (make_job(TenantFactory()) for _ in range(2))
    onlooker.execute("BEGIN")
    onlooker.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [theirs.pk])
    with transaction.atomic():
        sql("SET LOCAL lock_timeout = '5s'")
        assert [job.id for job in store.hold(mine.source_type, mine.source_method)] == [mine.pk]
    onlooker.execute("ROLLBACK")


@pytest.mark.parametrize("number", [2**63, 10**30, -(10**30)])
@pytest.mark.parametrize("verb", [cancel, revive, explain, queries.job, queries.status])
def test_a_number_that_no_job_can_have_is_not_looked_for(tenant, verb, number):
    with CaptureQueriesContext(connection) as asked:
        verb(job_id=number, tenant_id=tenant.pk)
    assert not [query for query in asked if str(number) in query["sql"]]  # it would read every row
