"""Bodies that are coroutines: their sessions, their end, their time limit, and what they leave behind."""

import asyncio
from contextlib import contextmanager

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, transaction
from django.utils import translation

from jobs import async_, current_job, in_thread, job
from jobs.engine.attempt.execute import execute
from jobs.engine.verbs.cancel import cancel
from jobs.models import FailedAttempt, Job
from jobs.store import results
from tests.factories import ThingFactory
from tests.sample.models import Run, Thing
from tests.sql import sql, value

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]
CANCELLED = "tasks cancelled: their body has ended"
ENDS = "process ends: what a body has started still runs"
LONG = 3600.0  # seconds


def backend() -> int:
    connection.ensure_connection()
    return connection.connection.info.backend_pid


def answer(ended: Job) -> object:
    assert ended.status == "success", ended.last_error
    return results.load(ended).value


@contextmanager
def around(running):
    with transaction.atomic():
        sql("SELECT set_config('app.around', %s, true)", [str(running.tenant.pk)])
        yield


class TestTheBody:
    def test_a_coroutine_runs_with_its_arguments_and_its_result_is_kept(self, host, sent, monkeypatch):
        async def add(self, value, *, times=1):
            await asyncio.sleep(0)
            return [self.pk, value * times]

        thing = ThingFactory()
        monkeypatch.setattr(Thing, "echo", job(add))
        job_id = thing.async_.echo("ab", times=2)
        assert execute(job_id, 1, host)
        assert answer(Job.objects.get(pk=job_id)) == [thing.pk, "abab"]

    def test_the_orm_that_it_awaits_uses_the_session_of_the_body_inside_the_context_of_the_project(
        self, serve_coroutine, settings
    ):
        settings.JOBS_AROUND = f"{__name__}.around"
        said = sync_to_async(lambda: value("SELECT current_setting('app.around', true)"))

        async def ask(self):
            one = asyncio.create_task(said())
            return [await said(), await one, await in_thread(backend)]

        goes_on, ended = serve_coroutine(ask)
        tenant = str(ended.tenant_id)
        assert (goes_on, answer(ended)) == (True, [tenant, tenant, backend()])

    def test_a_body_of_another_tenant_meets_nothing_of_the_one_before_it(self, serve_of_both):
        async def leave(self):
            translation.activate("de")
            await in_thread(sql, "SELECT set_config('app.tenant', 'a stranger', false)")

        async def look(self):
            said = await in_thread(value, "SELECT coalesce(current_setting('app.tenant', true), '')")
            return [said, translation.get_language(), len(asyncio.all_tasks())]

        assert serve_of_both(leave)[0]
        assert answer(serve_of_both(look)[1]) == ["", translation.get_language(), 1]

    def test_a_whole_transaction_in_the_thread_is_rolled_back_by_its_error(self, serve_of_both):
        @transaction.atomic
        def write(number: int, *, fail: bool) -> int:
            Run.objects.create(job_id=number, attempt=0, pid=0)
            if fail:
                raise ValueError("no")
            return number

        async def body(self):
            with pytest.raises(ValueError, match="no"):
                await in_thread(write, 1, fail=True)
            return [await in_thread(write, 2, fail=False), await Run.objects.acount()]

        assert answer(serve_of_both(body)[1]) == [2, 1]

    def test_a_transaction_in_the_coroutine_itself_is_refused_with_the_remedy(self, serve_of_both):
        async def body(self):
            with transaction.atomic():
                pass

        ended = serve_of_both(body)[1]
        assert ended.last_error.startswith("SynchronousOnlyOperation")
        assert "await the ORM's own twins (aget, asave), and `in_thread(function)`" in ended.last_error

    def test_a_job_submitted_from_a_coroutine_is_its_tenants(self, serve_of_both):
        async def body(self):
            job_id = await async_(self.again).asubmit()
            many = await async_(self.again, dedup=False).amany([{}])
            with pytest.raises(Exception, match=r"In a coroutine: await async_\(again\)\.asubmit"):
                async_(self.again)()
            return [job_id, *many]

        _, ended = serve_of_both(body)
        ids = answer(ended)
        assert set(Job.objects.filter(pk__in=ids).values_list("tenant_id", flat=True)) == {ended.tenant_id}
        assert len(ids) == 2

    def test_an_error_of_a_coroutine_is_its_outcome_whatever_its_class(self, serve_of_both, subtests):
        for error in (ValueError("no"), asyncio.CancelledError("no"), SystemExit("no")):
            with subtests.test(type(error).__name__):

                async def fail(self, error=error):
                    await asyncio.sleep(0)
                    raise error

                goes_on, ended = serve_of_both(fail)
                assert (goes_on, ended.last_error) == (True, f"{type(error).__name__}: no")
        assert "in fail" in FailedAttempt.objects.order_by("pk")[0].traceback

    def test_a_function_runs_without_a_loop(self, serve_coroutine, monkeypatch):
        monkeypatch.setattr(asyncio, "new_event_loop", None)
        assert serve_coroutine(lambda self: None)[1].status == "success"


class TestTheTwins:
    def test_all_answer_without_holding_up_the_loop(self, serve_of_both):
        async def ask(self):
            run, turns, done = current_job(), [0], asyncio.Event()

            async def turn() -> None:
                while not done.is_set():
                    turns[0] += 1
                    await asyncio.sleep(0)

            turning = asyncio.create_task(turn())
            await run.aprogress(0.5, "half")
            await run.memory.amerge(cursor=7, gone=1)
            await run.memory.adelete("gone")
            assert await run.memory.aincrement("runs") == 1
            assert await run.memory.acompare_and_set("cursor", 7, 8)
            assert (await run.memory.aget("cursor"), await run.memory.aget("none", 0)) == (8, 0)
            kept = await run.memory.aas_dict()
            await run.object_memory.aclear()
            await run.acheck_cancelled()
            answers = [
                (await run.atenant()).pk,
                await run.abatch(),
                await run.aresults(),
                await run.acancel_requested(),
            ]
            done.set()
            await turning
            assert turns[0] > 10
            return [*answers, kept, (await Job.objects.aget(pk=run.id)).progress_note]

        _, ended = serve_of_both(ask)
        assert answer(ended) == [ended.tenant_id, None, {}, False, {"cursor": 8, "runs": 1}, "half"]

    def test_a_memory_is_of_the_tenant_alone(self, serve_of_both):
        async def count(self):
            return await current_job().memory.aincrement("runs")

        assert [answer(serve_of_both(count)[1]) for _ in range(2)] == [1, 1], "each serve_of_both is another tenant's"

    @pytest.mark.parametrize("kind", ["ordinary"], indirect=True)  # in a light pool the parent tells of it
    def test_a_cancel_is_heard(self, serve_of_both):
        async def ask(self):
            run = current_job()
            await in_thread(cancel, run.id, tenant_id=self.tenant_id)
            await run.acheck_cancelled()

        assert serve_of_both(ask)[1].status == "cancelled"

    def test_a_coroutine_outside_a_job_has_a_stand_in(self):
        async def ask() -> list[object]:
            run = current_job()
            await run.aprogress(0.5)
            return [await run.atenant(), await run.abatch(), await run.aresults(), await run.acancel_requested()]

        assert asyncio.run(ask()) == [None, None, {}, False]
