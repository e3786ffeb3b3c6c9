"""A Celery task above which `as_job` stands: its callers call it as before, and it is a job of a tenant."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from jobs import InvalidRequest, async_
from jobs.calls import registry
from jobs.contrib.testing import drain, freeze_time
from jobs.models import Job
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

    @pytest.mark.parametrize("option", ["priority", "link", "group_id", "chain"])
    def test_what_a_job_does_not_have_is_refused(self, tenant, option):
        with pytest.raises(InvalidRequest, match=rf"^{option}: send_invoice is a job now, which has no such option"):
            tasks.send_invoice.apply_async((tenant.pk, 7), **{option: 1})
        assert not Job.objects.exists()

    def test_arguments_that_are_not_json_are_refused(self, tenant):
        with pytest.raises(InvalidRequest, match="datetime is not JSON"):
            tasks.send_invoice.delay(tenant.pk, datetime.now(UTC))

    @pytest.mark.parametrize("name", ["s", "si", "signature", "chunks", "map"])
    def test_celerys_canvas_is_refused(self, name):
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

    @pytest.mark.parametrize("call", [tasks.follow_up.delay, lambda: tasks.send_invoice.delay(0, 1)])
    def test_without_a_tenant_it_is_refused(self, tenant, call):
        with pytest.raises(InvalidRequest, match=r"^tenant: \w+ has no object; name the owner"):
            call()

    def test_it_is_found_by_its_name(self):
        target = registry.resolve("tests.sample.celery_tasks", "send_invoice")
        assert async_(target.function).target == target


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
