"""What a coroutine asks of the scheduler is done in a seat of a light pool exactly as in an ordinary process."""

import asyncio
import logging
from datetime import timedelta
from enum import IntEnum

import pytest
from django.db import transaction
from django.utils import timezone

from jobs import Retry, async_, batch, chain, current_job, group, in_thread, job
from jobs.authoring.decorator import FAILED
from jobs.engine.schedules import change
from jobs.engine.schedules.run import run_due
from jobs.lifecycle import Status
from jobs.models import AnyJob, Attempt, Job, JobLog, JobMemory
from jobs.store import results
from tests.clock import call_at
from tests.factories import TenantFactory, ThingFactory
from tests.kinds import run_when_due
from tests.sample.models import Run, Thing

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]


@pytest.fixture
def thing() -> Thing:
    return ThingFactory(tenant=TenantFactory(queue__num_slots=5))


@pytest.fixture
def stranger() -> Thing:
    return ThingFactory(tenant=TenantFactory(queue__num_slots=5))


@pytest.fixture
def body(monkeypatch):
    """Let `Thing.echo` be this coroutine."""

    def body(function, **options) -> None:
        monkeypatch.setattr(Thing, "echo", job(**{"dedup": False} | options)(function))

    return body


def answer(job_id: int) -> object:
    ended = Job.objects.get(pk=job_id)
    assert ended.status == "success", ended.last_error
    return results.load(ended).value


def status(job_id: int) -> str:
    return AnyJob.objects.get(pk=job_id).status


class TestFlows:
    @pytest.fixture
    def ran(self, body) -> list[object]:
        ran = []

        async def echo(self, value=None):
            ran.append((value, list((await current_job().aresults(gone=None)).values())))
            if value == "fails":
                raise ValueError("no")
            return value

        body(echo)
        return ran

    def test_a_chain_runs_in_its_order_with_the_results_before(self, kind, ran, thing, stranger):
        of, other = thing.async_.echo.request, stranger.async_.echo("x")
        ids = chain(of("a"), group(of("b"), of("c")), of("d"))
        kind.serve()
        assert sorted(ran, key=str) == [("a", []), ("b", ["a"]), ("c", ["a"]), ("d", ["b", "c"]), ("x", [])]
        assert {status(one) for one in (*ids, other)} == {"success"}

    def test_a_batch_calls_back_when_its_last_member_has_ended(self, kind, ran, thing):
        of = thing.async_.echo.request
        with batch("nightly", on_end=of("end"), on_success=of("well")) as nightly:
            nightly.add([of("a"), of("fails")])
        kind.serve()
        assert sorted(value for value, _ in ran) == ["a", "end", "fails"]

    def test_a_job_after_one_that_fails_is_cancelled(self, kind, ran, thing):
        failed = thing.async_.echo("fails")
        after, at_the_end = thing.async_(after=failed).echo("after"), thing.async_(after_end=failed).echo("end")
        kind.serve()
        assert [status(one) for one in (failed, after, at_the_end)] == ["error", "cancelled", "success"]

    def test_a_job_adds_to_its_own_batch(self, kind, body, thing):
        async def echo(self, n=3):
            if n:
                await in_thread((await current_job().abatch()).add, [self.async_(dedup=False).echo.request(n - 1)])
            return n

        body(echo)
        with batch("growing") as growing:
            growing.add([thing.async_.echo.request()])
        kind.serve()
        assert sorted(answer(one.pk) for one in Job.objects.all()) == [0, 1, 2, 3]


class TestSubmits:
    def test_a_job_that_a_coroutine_submits_is_its_tenants_and_runs(self, kind, body, thing, stranger):
        async def echo(self, value="first"):
            if value != "first":
                return value
            ids = [await async_(self.echo).asubmit("second"), *await async_(self.echo).amany([{"value": "third"}])]
            return [*ids, *await in_thread(chain, self.async_.echo.request("fourth"))]

        body(echo)
        of_both = thing.async_.echo(), stranger.async_.echo()
        kind.serve()
        for one, first in zip((thing, stranger), of_both, strict=True):
            rows = Job.objects.filter(pk__in=answer(first))
            assert {(row.tenant_id, answer(row.pk)) for row in rows} == {
                (one.tenant_id, value) for value in ("second", "third", "fourth")
            }

    def test_identical_jobs_of_coroutines_are_one(self, kind, body, thing):
        async def echo(self, value="first"):
            later = {"dedup": True, "delay": 3600}
            ids = await asyncio.gather(*(async_(self.echo, **later).asubmit("same") for _ in range(3)))
            late = [await async_(self.echo, identical="debounce", **later).asubmit("late") for _ in range(2)]
            return [*set(ids), *set(late)]

        body(echo)
        first = thing.async_.echo()
        kind.serve()
        assert [status(one) for one in answer(first)] == [Status.SCHEDULED] * 2

    @pytest.mark.parametrize("kind", ["light"], indirect=True)  # one ordinary process runs one at a time
    def test_a_coroutine_waits_for_another_job_of_its_pool(self, kind, body, thing):
        async def echo(self, value="first"):
            if value != "first":
                return value
            other = await async_(self.echo).asubmit("other")
            while (row := await Job.objects.aget(pk=other)).status != "success":
                await asyncio.sleep(0.01)
            return (await results.aload(row)).value

        body(echo)
        first = thing.async_.echo()
        kind.serve()
        assert answer(first) == "other"


class TestSchedules:
    def test_the_job_of_a_schedule_runs_for_its_tenant(self, kind, body, thing, stranger):
        async def echo(self, value):
            return [value, (await current_job().atenant()).pk]

        body(echo)
        for one in (thing, stranger):
            said = {"source_type": "sample.thing", "source_method": "echo", "source_id": str(one.pk)}
            change.add(one.tenant, name="often", every=60.0, args={"value": one.pk}, **said)
        assert call_at(timezone.now() + timedelta(seconds=61), run_due) == 2
        kind.serve()
        ended = {job.tenant_id: answer(job.pk) for job in Job.objects.all()}
        assert ended == {one.tenant_id: [one.pk, one.tenant_id] for one in (thing, stranger)}


class TestReports:
    def test_progress_and_memory_are_the_jobs_own(self, kind, body, thing, stranger):
        async def report(self):
            run = current_job()
            run.progress(0.25, "a quarter")
            await run.aprogress(0.5, f"half of {self.pk}")
            run.memory.merge(cursor=self.pk)
            run.object_memory.merge(seen=run.id)
            await in_thread(run.memory.increment, "runs")
            [row] = [one async for one in Job.objects.filter(pk=run.id)]
            run.stats.update(rows=3)
            return [row.progress, row.progress_note, run.memory.as_dict(), await run.object_memory.aas_dict()]

        body(report)
        ids = {thing: thing.async_.echo(), stranger: stranger.async_.echo()}
        kind.serve()
        for one, job_id in ids.items():
            assert answer(job_id) == [0.5, f"half of {one.pk}", {"cursor": one.pk, "runs": 1}, {"seen": job_id}]
            assert Job.objects.get(pk=job_id).stats == {"rows": 3}
        assert JobMemory.objects.count() == 4

    def test_a_report_of_progress_waits_for_nobody_who_has_locked_the_job(self, kind, body, thing, stranger):
        @transaction.atomic
        def report_locked() -> None:
            Job.objects.select_for_update().get(pk=current_job().id)
            current_job().progress(0.5, "while it is locked")

        async def echo(self, locks):
            if locks:
                await in_thread(report_locked)
            await current_job().aprogress(0.75, "free")
            return [row.progress_note async for row in Job.objects.filter(pk=current_job().id)]

        body(echo)
        ids = thing.async_.echo(True), stranger.async_.echo(False)
        kind.serve()
        assert [answer(one) for one in ids] == [["free"], ["free"]]

    def test_stats_of_a_class_of_the_authors_are_plain_values(self, kind, body, thing):
        class Local(IntEnum):
            ONE = 1

        async def report(self):
            current_job().stats.update(part=[Local.ONE])

        body(report)
        job_id = thing.async_.echo()
        kind.serve()
        assert Job.objects.get(pk=job_id).stats == {"part": [1]}

    def test_the_log_of_each_of_many_attempts_is_its_own(self, kind, body, thing, stranger):
        async def talk(self, word):
            for n in range(3):
                logging.getLogger("shop").warning("%s %d", word, n)
                await asyncio.sleep(0.001 * n)
            if word.endswith("7"):
                raise ValueError("no")

        body(talk, log=True)
        ids = {}
        for one in (thing, stranger):
            ids |= {one.async_.echo(f"{one.pk}-{n:02}"): f"{one.pk}-{n:02}" for n in range(10)}
        kind.serve()
        for job_id, word in ids.items():
            lines = JobLog.objects.get(job_id=job_id).text.splitlines()
            assert [line.partition(": ")[2] for line in lines] == [f"{word} 0", f"{word} 1", f"{word} 2"]

    def test_the_hook_of_a_failure_knows_its_job_and_asks_the_database(self, kind, body, thing, stranger):
        told = []

        def hook(verb, error, value):
            run = current_job()
            Run.objects.create(job_id=run.id, attempt=run.attempt, pid=0)
            told.append((verb, str(error), value, run.id, run.tenant.pk))

        async def fail(self, value):
            raise ValueError("no")

        setattr(fail, FAILED, hook)
        body(fail)
        ids = [one.async_.echo(one.pk) for one in (thing, stranger)]
        kind.serve()
        assert sorted(told) == [
            ("fail", "no", one.pk, job_id, one.tenant_id) for one, job_id in zip((thing, stranger), ids, strict=True)
        ]
        assert Run.objects.count() == 2


class TestTargets:
    def test_a_job_type_that_this_process_does_not_know_is_put_back(self, kind, body, thing, monkeypatch):
        async def echo(self):
            return "known"

        body(echo)
        job_id = thing.async_.echo()
        with monkeypatch.context() as patched:
            patched.delattr(Thing, "echo")
            kind.serve()
            assert status(job_id) == Status.SCHEDULED
        assert Attempt.objects.get(job_id=job_id).outcome == "snooze"
        assert (run_when_due(kind, job_id).status, answer(job_id)) == ("success", "known")

    def test_a_body_whose_arguments_have_changed_fails(self, kind, body, thing):
        async def old(self, value):
            pass

        async def new(self, *, number):
            pass

        body(old)
        job_id = thing.async_.echo("old")
        body(new)
        kind.serve()
        assert Job.objects.get(pk=job_id).last_error.startswith("TypeError: ")

    @pytest.mark.parametrize("error", [LookupError("broken"), SystemExit("broken"), asyncio.CancelledError("broken")])
    def test_an_object_that_cannot_be_made_fails_alone(self, error, kind, body, monkeypatch):
        thing, stranger = (ThingFactory(tenant=TenantFactory()) for _ in range(2))

        async def echo(self):
            return self.pk

        make = Thing.from_db.__func__

        def from_db(cls, database, names, values):
            made = make(cls, database, names, values)
            if made.pk == thing.pk:
                raise error
            return made

        body(echo, retry=Retry.every(300, max_retries=1))
        ids = [one.async_.echo() for one in (thing, stranger)]
        monkeypatch.setattr(Thing, "from_db", classmethod(from_db))
        kind.serve()
        broken = Job.objects.get(pk=ids[0])
        assert (broken.status, broken.retries, broken.last_error) == ("scheduled", 1, f"{type(error).__name__}: broken")
        assert answer(ids[1]) == stranger.pk

    @pytest.mark.parametrize("whose", ["gone", "another tenant's"])
    def test_an_object_that_is_gone_fails_without_a_retry(self, whose, kind, body, thing, stranger):
        async def echo(self):
            return self.pk

        body(echo, retry=Retry.every(300, max_retries=1))
        ids = [one.async_.echo() for one in (thing, stranger)]
        if whose == "gone":
            thing.delete()
        else:
            Thing.objects.filter(pk=thing.pk).update(tenant=stranger.tenant)
        kind.serve()
        assert Job.objects.get(pk=ids[0]).last_error.startswith(f"SourceGone: sample.thing {thing.pk or ''}")
        assert answer(ids[1]) == stranger.pk

    @pytest.mark.parametrize("end", [lambda: "late", lambda: 1 / 0], ids=["value", "error"])
    def test_a_tenant_that_is_deleted_while_its_job_runs_takes_no_other_job_along(
        self, end, kind, body, thing, stranger
    ):
        owner = thing.tenant

        async def delete(self):
            if self.pk == thing.pk:
                await in_thread(owner.delete)
                await current_job().aprogress(0.5, "gone")
                return end()
            await Run.objects.acreate(job_id=current_job().id, attempt=1, pid=0)
            return self.pk

        body(delete, log=True)
        ids = [one.async_.echo() for one in (thing, stranger)]
        kind.serve()
        assert not Job.objects.filter(pk=ids[0]).exists()
        assert answer(ids[1]) == stranger.pk
