"""`drain()` and `run()` make real attempts in the test's own process: alike in a TestCase's transaction and outside."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction

from jobs import Abandon, Retry, RetryLater, cancel, current_job, job, queries
from jobs.engine.pause import pause_job_type
from jobs.models import Job, Worker
from jobs.testing import drain, run
from tests.factories import QueueFactory, TenantFactory, ThingFactory
from tests.sample.models import Run, Thing

IN_A_TRANSACTION = pytest.param(None, marks=pytest.mark.django_db, id="in a transaction")
WITH_COMMITS = pytest.param(None, marks=pytest.mark.django_db(transaction=True), id="with commits")


@pytest.fixture(params=[IN_A_TRANSACTION, WITH_COMMITS], autouse=True)
def database() -> None:
    """Every test runs as in a TestCase, which rolls one transaction back, and as in a TransactionTestCase."""


@pytest.fixture
def thing(database) -> Thing:
    return ThingFactory(tenant=TenantFactory(queue__num_slots=1))


@pytest.fixture
def body(monkeypatch):
    """Let Thing.echo be this function, marked as a job."""

    def body(function, **options) -> None:
        monkeypatch.setattr(Thing, "echo", job(**options)(function))

    return body


def status(job_id: int) -> str:
    return Job.objects.values_list("status", flat=True).get(pk=job_id)


class TestDrain:
    def test_it_runs_what_was_submitted_and_tells_the_attempts(self, thing):
        first, second = thing.async_.echo(1), thing.async_.echo(2)
        made = drain()
        assert [(a.job_id, a.number, a.status, a.value) for a in made] == [
            (first, 1, "success", [1]),
            (second, 1, "success", [2]),
        ]
        assert Run.objects.count() == 2

    def test_nothing_submitted_is_nothing_run(self, thing):
        assert drain() == []

    def test_a_second_drain_runs_only_what_came_since(self, thing):
        thing.async_.echo(1)
        drain()
        later = thing.async_.echo(2)
        assert [a.job_id for a in drain()] == [later]

    def test_it_runs_what_the_jobs_submit(self, thing, body):
        def submits(self, value=0):
            return self.async_.echo(value + 1) if value < 3 else None

        body(submits)
        thing.async_.echo()
        assert len(drain()) == 4

    def test_what_a_body_asks_for_on_commit_is_done(self, thing, body):
        def asks(self):
            with transaction.atomic():
                transaction.on_commit(self.async_.again)

        body(asks)
        thing.async_.echo()
        assert len(drain()) == 2

    def test_a_function_on_commit_that_raises_fails_the_job(self, thing, body):
        body(lambda self: transaction.on_commit(lambda: 1 / 0))
        job_id = thing.async_.echo()
        with pytest.raises(ZeroDivisionError):
            drain()
        assert status(job_id) == "error"

    def test_jobs_that_submit_each_other_without_end_are_an_error(self, thing, body):
        body(lambda self: self.async_.echo(), dedup=False)
        thing.async_.echo()
        with pytest.raises(AssertionError, match="5 attempts did not drain the jobs"):
            drain(most=5)

    def test_the_higher_priority_goes_first_also_if_a_running_job_submits_it(self, thing, body):
        order = []

        def notes(self, value):
            order.append(value)
            if value == "first":
                self.async_(priority=0).echo("urgent")

        body(notes)
        thing.async_(priority=4).echo("first")
        thing.async_.echo("last")
        drain()
        assert order == ["first", "urgent", "last"]

    def test_identical_jobs_run_once(self, thing):
        assert thing.async_.echo(1) == thing.async_.echo(1)
        assert len(drain()) == 1

    def test_current_job_knows_the_attempt_and_its_stats_are_kept(self, thing, body):
        def tells(self):
            run = current_job()
            run.stats["tenant"] = run.tenant.slug
            run.progress(0.5, "half")
            return [run.id, run.attempt, run.memory.increment("runs")]

        body(tells)
        job_id = thing.async_.echo()
        (attempt,) = drain()
        assert attempt.value == [job_id, 1, 1]
        assert queries.job(thing.tenant_id, job_id).stats == {"tenant": thing.tenant.slug}

    def test_no_worker_stays_behind(self, thing):
        thing.async_.echo()
        drain()
        assert not Worker.objects.filter(gone_at=None).exists()

    def test_no_message_is_sent(self, thing, sent):
        thing.async_.echo()
        drain()
        assert sent == []


class TestLimits:
    def test_the_jobs_of_a_tenant_without_slots_wait(self, thing):
        stranger = ThingFactory()
        thing.tenant.queue.num_slots = 0
        thing.tenant.queue.save()
        waiting, theirs = thing.async_.echo(), stranger.async_.echo()
        assert [a.job_id for a in drain()] == [theirs]
        assert status(waiting) == "created"

    def test_a_paused_queue_waits(self, thing):
        QueueFactory(name="critical", paused=True)
        job_id = thing.async_.urgent()
        assert drain() == []
        assert status(job_id) == "created"

    def test_a_paused_job_type_waits(self, thing):
        pause_job_type("sample.thing", "echo")
        job_id = thing.async_.echo()
        assert drain() == []
        assert status(job_id) == "scheduled"

    def test_a_rate_limit_lets_as_many_run_as_it_has_tokens(self, thing):
        queue = QueueFactory()
        queue.rate_limit, queue.rate_window = 2, 60
        queue.save()
        for value in range(5):
            thing.async_.echo(value)
        assert len(drain()) == 2
        assert len(drain(later=True)) == 3

    def test_queues_of_several_pools_are_served(self, thing):
        QueueFactory(name="critical", pool="heavy")
        thing.async_.urgent()
        thing.async_.echo()
        assert len(drain()) == 2

    def test_a_cancelled_job_does_not_run(self, thing):
        job_id = thing.async_.echo()
        cancel(job_id, tenant_id=thing.tenant_id)
        assert drain() == []


class TestFailures:
    def test_the_error_of_a_job_is_raised_after_all_have_run(self, thing):
        thing.async_.refuse("first")
        thing.async_.refuse("second")
        good = thing.async_.echo()
        with pytest.raises(ValueError, match="first") as caught:
            drain()
        assert "2 of 3 attempts ended so" in caught.value.__notes__[0]
        assert status(good) == "success"

    def test_or_it_is_only_recorded(self, thing):
        job_id = thing.async_.refuse("no")
        (attempt,) = drain(raising=False)
        assert attempt.failed
        assert (attempt.status, str(attempt.error)) == ("error", "no")
        assert Job.objects.get(pk=job_id).last_error == "ValueError: no"

    def test_an_error_that_is_tried_again_is_not_raised(self, thing):
        job_id = thing.async_.fail_first()
        assert [a.status for a in drain()] == ["scheduled"]
        assert status(job_id) == "scheduled"

    def test_later_runs_the_retries_too(self, thing):
        thing.async_.fail_first(times=2)
        assert [(a.number, a.status) for a in drain(later=True)] == [(1, "scheduled"), (2, "scheduled"), (3, "success")]

    def test_the_last_retry_buries_the_job(self, thing):
        job_id = thing.async_(max_retries=1).fail_first(times=5)
        with pytest.raises(ValueError, match="not in attempt 2"):
            drain(later=True)
        assert status(job_id) == "dead"

    def test_a_job_that_is_given_up_is_raised(self, thing, body):
        def gives_up(self):
            raise Abandon("never")

        body(gives_up, retry=Retry.every(1, max_retries=3))
        thing.async_.echo()
        with pytest.raises(Abandon):
            drain()

    def test_an_error_of_the_database_undoes_the_body_and_nothing_else(self, thing, body):
        def breaks(self):
            Run.objects.create(job_id=1, attempt=1, pid=1)
            Run.objects.create(id=Run.objects.get(job_id=1).pk, job_id=2, attempt=1, pid=1)

        body(breaks)
        job_id = thing.async_.echo()
        with pytest.raises(IntegrityError):
            drain()
        assert status(job_id) == "error"
        assert Run.objects.filter(job_id=1).exists() is not connection.in_atomic_block

    def test_what_a_body_wrote_before_its_own_error_stays(self, thing):
        thing.async_.refuse()
        drain(raising=False)
        assert Run.objects.count() == 1


class TestLater:
    def test_a_delayed_job_waits(self, thing):
        thing.async_(delay=60).echo()
        assert drain() == []

    def test_later_it_runs_without_waiting(self, thing):
        thing.async_(delay=86400).echo()
        assert len(drain(later=True)) == 1

    def test_snoozes_go_on_until_the_body_is_content(self, thing, body):
        def snoozes(self):
            if current_job().attempt < 4:
                raise RetryLater(timedelta(hours=1).total_seconds())

        body(snoozes)
        thing.async_.echo()
        assert len(drain(later=True)) == 4

    def test_a_snooze_without_end_is_an_error(self, thing, body):
        def snoozes(self):
            raise RetryLater(60)

        body(snoozes)
        thing.async_.echo()
        with pytest.raises(AssertionError, match="did not drain"):
            drain(later=True, most=10)


class TestRun:
    def test_it_returns_the_result_as_json_has_it(self, thing, body):
        body(lambda self, value: (value, {"n": 1}))
        assert run(thing.async_.echo, (1, 2)) == [[1, 2], {"n": 1}]

    def test_it_raises_the_error_of_the_job_also_if_there_is_a_retry(self, thing):
        with pytest.raises(ValueError, match="not in attempt 1"):
            run(thing.async_.fail_first)

    def test_options_count(self, thing, body):
        body(lambda self: current_job().timeout)
        assert run(thing.async_(timeout=7).echo) == 7

    def test_a_job_that_cannot_run_tells_why(self, thing):
        thing.tenant.queue.num_slots = 0
        thing.tenant.queue.save()
        with pytest.raises(AssertionError, match=f"did not run: Tenant {thing.tenant.name} has 0 slots"):
            run(thing.async_.echo)

    def test_what_waits_behind_it_still_waits(self, thing):
        thing.async_(priority=10).echo("behind")
        run(thing.async_.echo, "mine")
        assert Job.objects.filter(status="created").count() == 1
