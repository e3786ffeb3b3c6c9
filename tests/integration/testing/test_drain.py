"""`drain()` and `run()` make real attempts in the test's own process: alike in a TestCase's transaction and outside."""

import asyncio

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import connection, transaction

from jobs import cancel, current_job
from jobs.contrib.testing import drain
from jobs.engine.verbs.pause import pause_job_type
from jobs.models import Worker
from jobs.reading import queries
from tests.factories import QueueFactory, ThingFactory, status
from tests.sample.models import Run

pytestmark = pytest.mark.usefixtures("database")


class TestDrain:
    def test_a_drain_runs_the_submitted_jobs_and_returns_the_attempts(self, thing):
        first, second = thing.async_.echo(1), thing.async_.echo(2)
        made = drain()
        assert [(a.job_id, a.number, a.status, a.value) for a in made] == [
            (first, 1, "success", [1]),
            (second, 1, "success", [2]),
        ]
        assert Run.objects.count() == 2

    def test_a_body_ends_its_job_in_its_own_transaction(self, thing, body):
        def end(self, value=None):
            with current_job().ending() as end:
                Run.objects.create(job_id=current_job().id, attempt=1, pid=0)
                end.result = {"rows": Run.objects.count()}
                if value == "raises":
                    raise ValueError(value)
                transaction.on_commit(lambda: said.append(value))
            if value == "goes on":
                Run.objects.create()  # refused by the database
            return end.result

        said: list[str] = []
        body(end)
        jobs = {value: thing.async_.echo(value) for value in ("returns", "raises", "goes on")}
        made = {attempt.job_id: attempt for attempt in drain(raising=False)}
        assert (made[jobs["returns"]].status, made[jobs["returns"]].value) == ("success", {"rows": 1})
        assert (made[jobs["raises"]].status, type(made[jobs["raises"]].error)) == ("error", ValueError)
        rows = [run.job_id for run in Run.objects.order_by("pk")]
        if connection.in_atomic_block:  # one transaction, which the error has undone
            assert (rows, made[jobs["goes on"]].status) == ([jobs["returns"]], "error")
            assert "a TestCase is one transaction" in str(made[jobs["goes on"]].error)
        else:
            assert (rows, made[jobs["goes on"]].status) == ([jobs["returns"], jobs["goes on"]], "success")
        assert said[0] == "returns"

    def test_nothing_submitted_is_nothing_run(self, thing):
        assert drain() == []

    def test_a_second_drain_runs_only_what_came_since(self, thing):
        thing.async_.echo(1)
        drain()
        later = thing.async_.echo(2)
        assert [a.job_id for a in drain()] == [later]

    def test_a_drain_runs_the_jobs_that_jobs_submit(self, thing, body):
        def submits(self, value=0):
            return self.async_.echo(value + 1) if value < 3 else None

        body(submits)
        thing.async_.echo()
        assert len(drain()) == 4

    @pytest.mark.parametrize("by", [asyncio.run, lambda made: async_to_sync(lambda: made)()])
    @pytest.mark.filterwarnings("ignore:async_to_sync was passed")
    def test_an_awaited_call_of_a_body_sees_the_rows_of_the_test(self, by, thing, body):
        async def look() -> list[object]:
            run = current_job()
            run.progress(0.5, "half")
            run.check_cancelled()
            return [await Run.objects.acount(), run.memory.increment("runs"), run.tenant.pk]

        body(lambda self: by(look()))
        Run.objects.create(job_id=1, attempt=0, pid=0)
        thing.async_.echo()
        assert drain()[0].value == [1, 1, thing.tenant_id]

    @pytest.mark.parametrize("wait", [asyncio.run, lambda made: async_to_sync(lambda: made)()])
    @pytest.mark.filterwarnings("ignore:async_to_sync was passed")
    def test_a_coroutine_runs_also_for_a_test_that_awaits_the_drain(self, wait, thing, body):
        async def look(self):
            run = current_job()
            await run.aprogress(0.5, "half")
            return [await Run.objects.acount(), await run.memory.aincrement("runs"), await self.async_.again.asubmit()]

        body(look, dedup=False)
        Run.objects.create(job_id=1, attempt=0, pid=0)
        thing.async_.echo()
        first, again = drain()
        assert (first.value, again.status) == ([1, 1, again.job_id], "success")
        if not connection.in_atomic_block:  # a transaction of the test is of its own thread
            thing.async_.echo()
            assert [made.status for made in wait(sync_to_async(drain)())] == ["success", "success"]

    def test_a_body_may_submit_on_commit(self, thing, body):
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
        thing.tenant.jobs_queue.num_slots = 0
        thing.tenant.jobs_queue.save()
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
