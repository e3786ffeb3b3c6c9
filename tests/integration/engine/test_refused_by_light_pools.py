"""A light pool runs only `async def`: anything else for one of its queues is refused where it is submitted."""

from datetime import timedelta

import pytest
from django.core.checks import Tags, run_checks
from django.utils import timezone

from jobs import submit_many
from jobs.calls.refusals import InvalidRequest
from jobs.engine.schedules import change
from jobs.engine.schedules.declared import declare
from jobs.engine.schedules.run import run_due
from jobs.engine.submitting.submit import check_queue, submit_all
from jobs.engine.verbs import pools
from jobs.models import Job, Queue, Schedule
from jobs.reading.schedule_view import state_of
from reports.models import DataReport, DataSource
from tests.clock import call_at
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory, ThingFactory

pytestmark = pytest.mark.django_db(transaction=True)
WHY = (
    "'mail' is in the light pool mail, which runs only `async def`: "
    "make sample.thing.echo `async def`, or let it use a queue of an ordinary pool, or of a light one with threads"
)


@pytest.fixture
def thing():
    return ThingFactory()


@pytest.fixture
def mail() -> Queue:
    pools.change("mail", kind="light", seats=200)
    return QueueFactory(name="mail", pool="mail")


@pytest.fixture
def report() -> DataReport:
    tenant = TenantFactory()
    source = DataSource.objects.create(tenant=tenant, name="Numbers", url="postgresql://nowhere/")
    return DataReport.objects.create(tenant=tenant, source=source, name="One", question="?", sql="SELECT 1")


def refused(submit) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as found:
        submit()
    return found.value


def test_a_plain_method_is_refused_with_the_field_and_the_remedies_whoever_submits_it(mail, thing):
    for one in (thing, ThingFactory()):  # a stranger's, too
        why = refused(lambda one=one: one.async_(queue="mail").echo(value=1))
        assert (why.field, why.message) == ("queue", WHY)
    assert not Job.objects.exists()


def test_an_async_method_is_accepted_there_and_in_an_ordinary_pool(mail, report):
    QueueFactory(name="plain", pool="plain")
    report.async_.mail(to="a@example.com")
    report.async_(queue="plain").mail(to="b@example.com")
    assert sorted(Job.objects.values_list("queue__name", flat=True)) == ["mail", "plain"]


def test_a_pool_that_is_ordinary_again_takes_plain_methods(mail, thing):
    pools.change("mail", kind="ordinary")
    thing.async_(queue="mail").echo(value=1)
    assert Job.objects.get().queue == mail


def test_a_plain_method_is_accepted_where_the_pool_says_threads_whoever_submits_it(mail, thing):
    pools.change("mail", threads=True)
    stranger = ThingFactory()
    for one in (thing, stranger):
        one.async_(queue="mail").echo(value=1)
        check_queue(one.async_(queue="mail").echo.request(value=2))
    assert {*Job.objects.values_list("tenant", flat=True)} == {thing.tenant_id, stranger.tenant_id}
    pools.change("mail", threads=False)
    assert refused(lambda: thing.async_(queue="mail").echo(value=3)).message == WHY


def test_threads_of_another_light_pool_let_no_plain_method_in(mail, thing):
    pools.change("slow", kind="light", seats=50, threads=True)
    assert refused(lambda: thing.async_(queue="mail").echo(value=1)).message == WHY


def test_among_several_the_one_that_does_not_fit_is_named_and_none_is_stored(mail, thing, report):
    plain, fit = thing.async_(queue="mail").echo.request(value=1), report.async_.mail.request(to="a@example.com")
    assert refused(lambda: submit_many([fit, plain])).index == 1
    assert refused(lambda: submit_all([plain, request_for(thing.tenant)])).index == 0
    assert not Job.objects.exists()


def test_a_schedule_of_a_plain_method_is_refused_when_it_is_added(mail, thing, report):
    def add(one, **call):
        return change.add(one.tenant, name="Often", every=60.0, source_id=str(one.pk), **call)

    echo = {"source_type": "sample.thing", "source_method": "echo", "args": {"value": 1}}
    why = refused(lambda: add(thing, queue="mail", **echo))
    assert (why.field, why.message) == ("queue", WHY)
    add(report, source_type="reports.datareport", source_method="mail", args={"to": "a@example.com"})
    add(thing, **echo)
    assert Schedule.objects.count() == 2


def test_a_declared_schedule_of_a_plain_method_pauses_itself_with_the_reason(mail):
    """And one whose queue is in another pool goes on."""
    tenants = [TenantFactory(slug="opted-1"), TenantFactory(slug="opted-2")]
    assert declare() == 2
    Schedule.objects.filter(tenant=tenants[0]).update(queue="mail")
    assert call_at(timezone.now() + timedelta(seconds=2), run_due) == 2
    paused, other = (Schedule.objects.get(tenant=tenant) for tenant in tenants)
    assert state_of(paused) == "paused itself"
    assert paused.paused_because.startswith("queue: 'mail' is in the light pool mail, which runs only `async def`")
    assert state_of(other) == "on"
    assert {job.tenant_id for job in Job.objects.all()} == {other.tenant_id}
    assert refused(lambda: change.resume(paused)).field == "queue"


def warned() -> list[tuple[str, str]]:
    messages = run_checks(tags=[Tags.database], databases=["default"])
    return [(message.msg, message.hint) for message in messages if message.id == "jobs.W019"]


def test_a_light_pool_whose_queue_has_plain_methods_hears_which_and_what_to_type():
    QueueFactory(name="reports")
    Queue.objects.filter(name="reports").update(pool="mail")
    assert warned() == []
    pools.change("mail", kind="light", seats=200)
    QueueFactory(name="mail", pool="mail")  # its only job type is `async def`
    [(text, hint)] = warned()
    assert text.startswith("Pool mail of queue reports is light, and refuses reports.datareport.execute,")
    assert "manage.py queues set reports --pool POOL, an ordinary one; " in hint
    assert hint.endswith("if they only wait: manage.py queues pool mail --threads")
    pools.change("mail", threads=True)
    assert warned() == []
    pools.change("mail", threads=False)
    assert len(warned()) == 1
    pools.change("mail", kind="ordinary")
    assert warned() == []
