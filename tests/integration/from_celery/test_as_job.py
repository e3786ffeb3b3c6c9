"""A Celery task above which `as_job` stands: its callers call it as before, and it is a job of a tenant."""

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from celery import signals
from django.db import transaction
from django.utils import timezone

from jobs import InvalidRequest, async_
from jobs.calls import registry
from jobs.contrib.testing import drain, freeze_time
from jobs.engine.process import runtime
from jobs.engine.process.host import AttemptHost, ProcessHost
from jobs.models import Job
from jobs.worker.message import run_attempt
from tests.factories import QueueFactory, TenantFactory
from tests.sample import celery_tasks as tasks

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant(db):
    QueueFactory()
    QueueFactory(name="critical")
    return TenantFactory()


class TestItsCallers:
    def test_delay_submits_a_job_of_the_tenant(self, tenant):
        sent = tasks.send_invoice.delay(tenant.pk, 7, copy=True)
        job = Job.objects.get(pk=int(sent.id))
        assert (job.tenant, job.queue.name, job.timeout) == (tenant, "critical", 30)
        assert (job.source_type, job.source_method) == ("tests.sample.celery_tasks", "send_invoice")
        assert [attempt.value for attempt in drain()] == [{"tenant": tenant.pk, "number": 7, "copy": True}]

    def test_a_strangers_job_is_the_strangers(self, tenant):
        stranger = TenantFactory()
        tasks.send_invoice.delay(stranger.pk, 7)
        assert Job.objects.get().tenant == stranger

    def test_apply_async_takes_its_arguments_and_moments(self, tenant):
        with freeze_time(datetime(2031, 1, 1, tzinfo=UTC)) as time:
            tasks.send_invoice.apply_async((tenant.pk,), {"number": 1}, countdown=60, queue="default")
            tasks.send_invoice.apply_async((tenant.pk, 2), eta=time() + timedelta(seconds=90))
            tasks.send_invoice.apply_async((tenant.pk, 3), eta=time() - timedelta(days=1))
            tasks.send_invoice.apply_async((tenant.pk, 4), eta=datetime(2030, 12, 31))  # noqa: DTZ001
            due = [(job.due_at - time()).total_seconds() if job.due_at else 0 for job in Job.objects.order_by("id")]
        assert due == [60, 90, 0, 0]

    def test_an_eta_is_kept_exactly(self, tenant):
        eta = timezone.now() + timedelta(hours=1)
        tasks.send_invoice.apply_async((tenant.pk, 1), eta=eta)
        assert Job.objects.get().due_at == eta

    def test_each_call_is_a_job_of_its_own(self, tenant):
        assert tasks.send_invoice.delay(tenant.pk, 7) != tasks.send_invoice.delay(tenant.pk, 7)

    def test_called_plainly_it_is_the_task(self, tenant):
        assert tasks.call_back(tenant.pk, fail=-1) == ["tests.sample.celery_tasks.call_back", True]
        assert not Job.objects.exists()

    def test_options_of_the_message_are_ignored(self, tenant):
        tasks.send_invoice.apply_async((tenant.pk, 7), serializer="json", ignore_result=True)
        assert Job.objects.exists()

    def test_what_a_job_does_not_have_is_refused(self, tenant):
        for option in ("priority", "link", "group_id", "chain"):
            with pytest.raises(
                InvalidRequest, match=rf"^{option}: send_invoice is a job now, which has no such option"
            ):
                tasks.send_invoice.apply_async((tenant.pk, 7), **{option: 1})
        assert not Job.objects.exists()

    def test_arguments_that_are_not_json_are_refused_by_their_own_names(self, tenant):
        with pytest.raises(InvalidRequest, match=r"^args\[1\]: datetime is not JSON"):
            tasks.send_invoice.delay(tenant.pk, datetime.now(UTC))
        with pytest.raises(InvalidRequest, match=r"^kwargs.copy: datetime is not JSON"):
            tasks.send_invoice.delay(tenant.pk, 1, copy=datetime.now(UTC))

    def test_the_answer_says_where_the_job_is_asked_for(self, tenant):
        sent = tasks.send_invoice.delay(tenant.pk, 7)
        for name in ("get", "status", "revoke"):
            with pytest.raises(AttributeError, match=rf"^{name}: .*queries.job\(tenant_id, {sent.id}\)"):
                getattr(sent, name)
        assert not hasattr(sent, "nosuch")

    def test_celerys_canvas_is_refused(self):
        for name in ("s", "si", "signature", "chunks", "map"):
            with pytest.raises(AttributeError, match=f"or use send_invoice.task.{name}, which sends to Celery"):
                getattr(tasks.send_invoice, name)

    def test_the_rest_of_the_task_is_there(self):
        assert tasks.follow_up.name == "billing.follow_up"
        assert tasks.call_back.max_retries == 7
        assert tasks.send_invoice.__doc__ == "Send it."
        assert tasks.follow_up.task.s().task == "billing.follow_up"


class TestTheJob:
    def test_its_policy_decides_not_celerys(self, tenant):
        tasks.call_back.delay(tenant.pk, fail=1)
        assert [(a.status, type(a.error)) for a in drain(later=True)] == [
            ("scheduled", ConnectionError),
            ("success", type(None)),
        ]

    def test_a_task_that_a_job_sends_belongs_to_its_tenant(self, tenant):
        tasks.begin.delay(tenant.pk)
        assert drain()[-1].value == tenant.pk

    def test_without_a_tenant_it_is_refused(self, tenant):
        for call in (tasks.follow_up.delay, lambda: tasks.send_invoice.delay(0, 1)):
            with pytest.raises(InvalidRequest, match=r"^tenant: \w+ has no object; name the owner"):
                call()

    def test_it_is_found_by_its_name(self):
        target = registry.resolve("tests.sample.celery_tasks", "send_invoice")
        assert async_(target.function).target == target


class TestTheHooksOfItsClass:
    """Celery's worker calls them in the process of the body; a job whose process is killed calls none, as there."""

    @pytest.fixture
    def told(self, tenant):
        tasks.TOLD.clear()

        def told(**how):
            sent = tasks.export.delay(tenant.pk, **how)
            drain(later=True, raising=False)
            assert {job_id for _, job_id, *_ in tasks.TOLD} == {int(sent.id)}
            return [(name, *facts) for name, _, *facts in tasks.TOLD if name != "before_start"]

        return told

    def test_of_a_success(self, told, tenant):
        assert told() == [("on_success", "well"), ("after_return", "SUCCESS", "well")]
        assert tasks.TOLD[0][2:] == ([tenant.pk], {})

    def test_of_a_failure_and_of_the_retry_before_it_once_they_are_stored(self, told, tenant, settings):
        settings.JOBS_AROUND = "tests.integration.from_celery.test_as_job.with_the_status"
        (_, error, kind), (_, last, with_traceback, whose), after = told(how="badly")
        assert (str(error), kind, str(last), with_traceback, whose) == ("badly", ValueError, "badly", True, tenant.pk)
        assert after == ("after_return", "FAILURE", last)
        assert around == ["running", "scheduled", "running", "dead"]  # in the tenant's scope, after the settling

    def test_of_a_body_that_asks_for_another_try_and_of_one_that_was_stopped(self, told):
        assert [name for name, *_ in told(how="again")] == ["on_retry", "on_success", "after_return"]
        tasks.TOLD.clear()
        assert told(how="stopped") == []

    def test_one_that_fails_is_logged_and_the_job_ends_as_it_did(self, told, tenant, caplog):
        assert [name for name, *_ in told(how="sys.exit")][-1] == "after_return"
        assert Job.objects.get().status == "dead"
        assert "failure hook failed" in caplog.text


SIGNALS = ("task_prerun", "task_success", "task_failure", "task_postrun")


@pytest.fixture
def signalled():
    """The signals of Celery, and of which task, as they come."""
    seen = []
    for name in SIGNALS:
        receiver = partial(lambda name, sender, **_: seen.append((name, sender.name)), name)
        getattr(signals, name).connect(receiver, weak=False, dispatch_uid=name)
    yield seen
    for name in SIGNALS:
        getattr(signals, name).disconnect(dispatch_uid=name)


@pytest.mark.django_db(transaction=True)
def test_celerys_signals_are_those_of_messages(tenant, register, sent, signalled):
    """A message runs several jobs; and a job that fails is no failure of its message."""
    host = AttemptHost(ProcessHost(register(concurrency=1), "default"))
    for how in ("well", "badly"):
        tasks.export.delay(tenant.pk, how=how)
    [message] = sent
    with runtime.changed(host=host):
        run_attempt.apply((message.id, message.attempt))
    assert list(Job.objects.order_by("id").values_list("status", flat=True)) == ["success", "scheduled"]
    assert signalled == [(name, "jobs.run_attempt") for name in ("task_prerun", "task_success", "task_postrun")]


around: list[str] = []


@contextmanager
def with_the_status(job):
    around.append(Job.objects.get(pk=job.id).status)
    yield


class TestOnCommit:
    @pytest.mark.parametrize(
        "send",
        [
            lambda tenant: tasks.send_invoice.delay_on_commit(tenant.pk, 7, copy=True),
            lambda tenant: tasks.send_invoice.apply_async_on_commit((tenant.pk, 7), {"copy": True}, countdown=0),
        ],
        ids=["delay", "apply_async"],
    )
    def test_what_celery_sends_after_the_commit_is_a_job_of_the_transaction(self, tenant, send):
        assert send(tenant) is None
        assert [attempt.value for attempt in drain()] == [{"tenant": tenant.pk, "number": 7, "copy": True}]

    def test_of_a_transaction_that_fails_there_is_none(self, tenant):
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            tasks.send_invoice.delay_on_commit(tenant.pk, 7)
            raise ZeroDivisionError
        assert not Job.objects.exists()
