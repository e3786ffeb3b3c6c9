"""`thing.async_(...).method(...)`: what becomes of the call, of its options, and of what cannot be called."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import SynchronousOnlyOperation
from django.db import models, transaction
from django.template import Context, Template
from django.test.utils import isolate_apps
from django.utils import timezone

from jobs import (
    Asynchronous,
    InvalidRequest,
    asubmit_many,
    async_,
    batch,
    chain,
    current_job,
    group,
    job,
    queries,
    results,
    store,
    submit_many,
)
from jobs.authoring import current
from jobs.authoring.current import CurrentJob
from jobs.calls import registry
from jobs.checks.loaded import defaults_are_of_one_call, keys_are_short, paths_to_the_tenant
from jobs.models import Job
from jobs.reading.waiting import afinished
from tenants.models import Tenant
from tests.factories import MemberFactory, QueueFactory, TenantFactory, ThingFactory
from tests.sample.celery_tasks import send_invoice
from tests.sample.models import Run, Thing

pytestmark = pytest.mark.django_db


@pytest.fixture
def thing() -> Thing:
    QueueFactory(name="critical")
    return ThingFactory()


def in_a_batch(member: Any, on_end: Any = None) -> None:
    with batch("nightly", on_end=on_end) as nightly:
        nightly.add(member)


def stored(job_id: int) -> Job:
    return Job.objects.select_related("queue").get(pk=job_id)


class TestTheCall:
    def test_it_is_stored_with_its_object_method_and_arguments(self, thing):
        job = stored(thing.async_.echo((1, "ü"), times=2))
        assert (job.tenant, job.source_type, job.source_id) == (thing.tenant, "sample.thing", str(thing.pk))
        assert (job.source_method, job.args) == ("echo", {"value": [1, "ü"], "times": 2})

    @pytest.mark.parametrize(
        ("given", "kept"),
        [(0.1, 0.1), (1e15, 1e15), (1e16, 10**16), (-1e23, -(10**23)), (1e-7, 1e-7), (-0.0, 0.0)],
    )
    def test_a_large_float_is_kept_as_an_integer_and_zero_without_its_sign(self, thing, given, kept):
        assert repr(stored(thing.async_.echo(given)).args["value"]) == repr(kept)

    def test_it_is_not_run(self, thing):
        thing.async_.echo()
        assert not Run.objects.exists()

    def test_called_plainly_it_runs_at_once_and_stores_no_job(self, thing):
        assert thing.echo("hello", times=2) == ["hello", "hello"]
        assert not Job.objects.exists()

    def test_many_calls_give_their_ids_in_order(self, thing):
        ids = thing.async_.echo.many([{"value": n} for n in (3, 1, 2)])
        assert [stored(job).args["value"] for job in ids] == [3, 1, 2]
        assert ids == sorted(ids)

    def test_no_calls_give_no_ids(self, thing):
        assert thing.async_.echo.many([]) == []

    def test_requests_of_several_objects_and_classes_are_submitted_together(self, thing):
        other = ThingFactory()
        requests = [
            thing.async_.echo.request(1),
            other.async_(priority=0).refuse.request(),
            Thing.async_(tenant=other.tenant).everything.request(region="EU"),
        ]
        assert not Job.objects.exists()
        jobs = [stored(job) for job in submit_many(iter(requests))]
        assert [job.tenant_id for job in jobs] == [thing.tenant_id, other.tenant_id, other.tenant_id]
        assert [job.source_method for job in jobs] == ["echo", "refuse", "everything"]
        assert [job.priority for job in jobs] == [5, 0, 5]

    def test_one_bad_call_of_many_is_refused_and_none_is_stored(self, thing):
        with pytest.raises(InvalidRequest, match="colour"):
            thing.async_.echo.many([{"value": 1}, {"colour": 2}])
        request = thing.async_.echo.request()
        for no_request in (4, thing.async_.echo):  # the id of what was submitted already, a call that was not made
            for misuse in (
                lambda wrong: submit_many([request, wrong]),
                lambda wrong: chain(request, group(wrong)),
                lambda wrong: chain(request, wrong),
                in_a_batch,
                lambda wrong: in_a_batch(request, on_end=wrong),
            ):
                with pytest.raises(TypeError, match=r"is no request; write .*\.request\("):
                    misuse(no_request)
        assert not Job.objects.exists()


class TestOptions:
    def test_what_the_method_says_holds_where_the_call_says_nothing(self, thing):
        job = stored(thing.async_.urgent())
        assert (job.queue.name, job.priority, job.timeout) == ("critical", 2, 7)

    def test_what_the_call_says_goes_before_it(self, thing):
        job = stored(thing.async_(queue="default", priority=0, timeout=1.5).urgent())
        assert (job.queue.name, job.priority, job.timeout) == ("default", 0, 1.5)

    def test_options_may_be_given_in_steps_and_the_later_goes_first(self, thing):
        urgently = thing.async_(queue="critical", priority=1)
        job = stored(urgently(priority=0).echo())
        assert (job.queue.name, job.priority) == ("critical", 0)
        assert stored(urgently.echo(2)).priority == 1

    def test_options_do_not_stay_with_the_object(self, thing):
        thing.async_(priority=0).echo(1)
        assert stored(thing.async_.echo(2)).priority == 5

    @pytest.mark.parametrize("delay", [90, 90.0, timedelta(seconds=90)], ids=str)
    def test_a_delay_is_seconds_or_a_timedelta(self, thing, delay):
        job = stored(thing.async_(delay=delay).echo())
        assert (job.status, job.due_at - job.created_at) == ("scheduled", timedelta(seconds=90))

    def test_at_is_a_moment(self, thing):
        moment = timezone.now() + timedelta(days=1)
        job = stored(thing.async_(at=moment).echo())
        assert (job.status, job.due_at) == ("scheduled", moment)

    def test_a_user_is_an_object_or_a_key(self, thing):
        user = MemberFactory(tenant=thing.tenant).user
        assert stored(thing.async_(user=user).echo(1)).user_key == str(user.pk)
        assert stored(thing.async_(user="ann").echo(2)).user_key == "ann"
        assert stored(thing.async_(user=7).echo(3)).user_key == "7"
        assert stored(thing.async_.echo(4)).user_key == ""
        assert stored(thing.async_(user=AnonymousUser()).echo(5)).user_key == ""  # of a request without a login

    @pytest.mark.parametrize(
        ("options", "field"),
        [
            ({"at": datetime(2000, 1, 1, tzinfo=UTC)}, "at"),
            ({"at": datetime(2999, 1, 1)}, "at"),  # noqa: DTZ001 - that is the point
            ({"delay": 1, "at": datetime(2999, 1, 1, tzinfo=UTC)}, "delay"),
            ({"delay": timedelta(seconds=-1)}, "delay"),
            ({"priority": 11}, "priority"),
            ({"timeout": 0}, "timeout"),
            ({"user": "u" * 101}, "user"),
            ({"user": ["ann"]}, "user"),  # no text stands for an object: it may be another one's
            ({"queue": "missing"}, "queue"),
            ({"queue": "nul\x00"}, "queue"),
        ],
        ids=str,
    )
    def test_an_option_out_of_its_range_is_named_and_nothing_is_stored(self, thing, options, field):
        with pytest.raises(InvalidRequest) as refusal:
            thing.async_(**options).echo()
        assert refusal.value.field == field
        assert not Job.objects.exists()

    def test_an_option_that_does_not_exist_is_an_error(self, thing):
        with pytest.raises(TypeError, match=r"options\(\) .*prio"):
            thing.async_(prio=1).echo()


class TestWhatCannotBeCalled:
    @pytest.mark.parametrize("name", ["not_a_job", "delete", "missing", "tenant"])
    def test_what_is_not_a_job_is_no_attribute_and_the_jobs_are_named(self, thing, name):
        with pytest.raises(AttributeError, match=rf"Thing\.async_\.{name}: .*is not a job; jobs: .*echo"):
            getattr(thing.async_, name)

    def test_private_names_are_no_jobs_so_that_copying_works(self, thing):
        with pytest.raises(AttributeError, match="__deepcopy__"):
            thing.async_.__deepcopy__  # noqa: B018
        assert not hasattr(thing.async_, "_meta")

    def test_an_unsaved_object_has_no_jobs_yet(self, thing):
        with pytest.raises(InvalidRequest, match=r"^source_id: echo runs on one object, which must be saved first"):
            Thing(tenant=thing.tenant).async_.echo()

    def test_an_object_whose_key_has_several_columns_or_is_bytes_has_none(self, thing):
        with isolate_apps("tests.sample"):

            class Seat(Asynchronous, models.Model):
                pk = models.CompositePrimaryKey("tenant", "number")
                tenant = models.ForeignKey(Tenant, models.CASCADE)
                number = models.IntegerField()

                class Meta:
                    app_label = "sample"

                @job
                def book(self) -> None: ...

            class Block(Asynchronous, models.Model):
                id = models.BinaryField(primary_key=True)
                tenant = models.ForeignKey(Tenant, models.CASCADE)

                class Meta:
                    app_label = "sample"

                @job
                def mine(self) -> None: ...

        block = Block.from_db(None, ["id", "tenant_id"], [b"x", thing.tenant_id])
        with pytest.raises(InvalidRequest, match=r"^source_id: sample.Block has a key of bytes"):
            block.async_.mine()
        refused = "sample.Seat has a key of several columns, which names no object of a job"
        with pytest.raises(InvalidRequest, match=rf"^source_id: {refused}"):
            Seat.from_db(None, ["tenant_id", "number"], [thing.tenant_id, 1]).async_.book()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(registry, "source_types", lambda: {"sample.seat": Seat})
            [fault] = paths_to_the_tenant()
        assert refused in fault[0]

    def test_a_job_of_one_object_is_not_called_on_the_class(self, thing):
        with pytest.raises(InvalidRequest, match=r"^source_id: "):
            Thing.async_(tenant=thing.tenant).echo()

    def test_an_object_does_not_take_another_tenant(self, thing):
        with pytest.raises(InvalidRequest, match=r"^tenant: is not the owner"):
            thing.async_(tenant=TenantFactory()).echo()
        assert stored(thing.async_(tenant=thing.tenant).echo()).tenant == thing.tenant


class TestOfTheClass:
    def test_a_class_level_job_has_no_object_and_is_the_given_tenants(self, thing):
        job = stored(Thing.async_(tenant=thing.tenant).everything(region="EU"))
        assert (job.source_id, job.tenant, job.args) == (None, thing.tenant, {"region": "EU"})

    def test_without_a_tenant_it_is_nobodys_and_refused(self):
        with pytest.raises(InvalidRequest, match=r"^tenant: .*async_\(tenant=\.\.\.\)"):
            Thing.async_.everything()

    def test_inside_a_job_it_is_that_jobs_tenants(self, thing):
        token = current.enter(CurrentJob(id=1, tenant=thing.tenant))
        try:
            job = stored(Thing.async_.everything())
        finally:
            token.var.reset(token)
        assert job.tenant == thing.tenant
        assert current_job().id is None

    def test_called_on_an_object_it_still_has_none(self, thing):
        job = stored(thing.async_(tenant=thing.tenant).everything())
        assert (job.source_id, job.tenant) == (None, thing.tenant)


class TestOfAFunctionOrMethodItself:
    def test_a_method_of_an_object_is_called_on_it(self, thing):
        job = stored(async_(thing.echo, priority=1)("x", times=2))
        assert (job.source_id, job.source_method, job.args, job.priority) == (
            str(thing.pk),
            "echo",
            {"value": "x", "times": 2},
            1,
        )

    def test_a_method_of_a_class_has_no_object(self, thing):
        job = stored(async_(Thing.tick, tenant=thing.tenant)())
        assert (job.source_id, job.source_method, job.tenant_id) == (None, "tick", thing.tenant_id)

    @pytest.mark.parametrize("other", [lambda thing: thing.save, lambda thing: Thing.objects.count])
    def test_what_is_no_job_is_refused(self, thing, other):
        with pytest.raises(InvalidRequest, match="source_method"):
            async_(other(thing))


def test_what_cannot_be_called_so_says_how_it_can(thing):
    with isolate_apps("tests.sample"):

        class Careful(Thing):
            class Meta:
                proxy = True
                app_label = "sample"

            @job
            def echo(self, value: object = None, *, times: int = 1): ...

            @job
            def _recount(self) -> None: ...

            def parents(self):
                return super().echo

    careful = Careful.objects.get(pk=thing.pk)
    with pytest.raises(InvalidRequest, match="Careful overrides echo: a job would call the override"):
        async_(careful.parents())
    with pytest.raises(InvalidRequest, match=r"Thing\.echo is a method: call async_ with that of an object"):
        async_(Thing.echo)
    with pytest.raises(TypeError, match=r"takes a @job function or method, not functools\.partial"):
        async_(partial(thing.echo, 1))
    assert stored(careful.async_._recount()).source_method == "_recount"


def test_checks_name_keys_that_no_job_can_have_and_defaults_that_tenants_share(monkeypatch):
    with isolate_apps("tests.sample"):

        class Page(Asynchronous, models.Model):
            address = models.CharField(max_length=255, primary_key=True)
            tenant = models.ForeignKey(Tenant, models.CASCADE)

            class Meta:
                app_label = "sample"

            @job
            def fetch(self, *, seen: list[str] = [], depth: int = 1): ...  # noqa: B006

        class Draft(Page):
            class Meta:
                app_label = "sample"

        known = {"sample.page": Page, "sample.draft": Draft, "sample.thing": Thing}
    monkeypatch.setattr(registry, "source_types", lambda **_: known)
    assert [text.split()[2] for text, *_ in keys_are_short()] == ["sample.Page", "sample.Draft"]
    assert ["sample.page.fetch:", "seen"] in [
        [text.split()[0], text.split()[4]] for text, _ in defaults_are_of_one_call()
    ]


def test_a_template_submits_nothing(thing):
    names = ("", ".echo", ".echo.asubmit", ".everything")
    text = "|".join(f"{{{{ thing.async_{name} }}}}" for name in names)
    rendered = Template(text).render(Context({"thing": thing}))
    assert rendered.endswith("|||")
    assert not Job.objects.exists()
    calls = thing.async_.echo  # Jinja's sandbox asks whatever it is to call
    assert all(one.alters_data for one in (calls, calls.many, calls.amany, calls.asubmit))


@pytest.mark.django_db(transaction=True)
class TestFromAsyncCode:
    """In the thread of the event loop Django lets nobody use the database."""

    def test_a_call_its_job_and_its_result(self, thing):
        async def view():
            job_id = await async_(thing.echo).asubmit("x")
            [other] = await async_(thing.echo).amany([{"value": "y"}])
            [third] = await asubmit_many([async_(thing.echo).request("z") for _ in range(1)])
            job = await queries.ajob(thing.tenant_id, job_id)
            return job, other, third, await queries.astatus(thing.tenant_id, third), await results.aload(job)

        job, other, third, status, result = async_to_sync(view)()
        assert (job.args, stored(other).args, status, result) == ({"value": "x"}, {"value": "y"}, "created", None)
        assert stored(third).args == {"value": "z"}

    def test_the_plain_call_names_the_awaitable_one(self, thing, subtests):
        request = async_(thing.echo).request("x")
        calls = {
            "await async_(echo).asubmit(...)": lambda: async_(thing.echo)("x"),
            "await async_(echo).amany(...)": lambda: thing.async_.echo.many([{"value": "y"}]),
            "await asubmit_many(...)": lambda: submit_many([request]),
            "await sync_to_async(send_invoice.delay)(...)": lambda: send_invoice.delay(thing.tenant_id, 1),
        }
        for twin, call in calls.items():

            async def view(call=call):
                call()

            with subtests.test(twin), pytest.raises(SynchronousOnlyOperation, match=re.escape(twin)) as raised:
                async_to_sync(view)()
            assert str(raised.value).count("await") == 1

    def test_several_at_once_in_a_transaction_are_dispatched_when_it_commits(self, thing, register):
        """Each is a task of asyncio, with a context of its own that the commit does not see."""
        register()

        async def view():
            return await asyncio.gather(*(async_(thing.echo).asubmit(n) for n in (1, 2)))

        with transaction.atomic():
            ids = async_to_sync(view)()
        assert {stored(job).status for job in ids} == {"queued"}

    def test_the_end_is_awaited_or_the_time(self, thing, register):
        worker, job_id = register(), async_(thing.echo)("x")

        async def view():
            early = await afinished(thing.tenant_id, job_id, seconds=0.1)
            waiting = asyncio.create_task(afinished(thing.tenant_id, job_id, seconds=60))
            await asyncio.sleep(0)  # it looks before the job starts
            await sync_to_async(end)()
            return early.status, (await waiting).status, await afinished(thing.tenant_id, 0, seconds=60)

        def end():
            assert store.start(job_id, 1, store.Seat.here(worker))
            assert store.succeed(job_id, 1, {}, None)

        assert async_to_sync(view)() == ("queued", "success", None)
        assert async_to_sync(afinished)(TenantFactory().pk, job_id, seconds=60) is None, "a stranger's"

    def test_a_stranger_finds_nothing(self, thing):
        job_id = async_(thing.echo)("x")
        stranger = TenantFactory().pk
        assert async_to_sync(queries.ajob)(stranger, job_id) is None
        assert async_to_sync(queries.astatus)(stranger, job_id) is None
