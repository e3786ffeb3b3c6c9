"""A limit is changed by one verb, whoever asks: it is checked and stored, and who waited for it goes at once."""

import pytest
from django.core.management import CommandError, call_command

from jobs.engine.verbs import limits
from tenants.models import TenantQueue
from tests.callers import browser_of, program_of, superuser
from tests.factories import QueueFactory, TenantFactory, make_job

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def olga():
    return superuser(username="olga")


def by_code(olga, slots: TenantQueue) -> None:
    limits.change(slots, {"num_slots": 1})


def at_the_command_line(olga, slots: TenantQueue) -> None:
    call_command("tenants", "slots", slots.tenant.slug, "--set", "1")


def over_http(olga, slots: TenantQueue) -> None:
    address = f"/api/v1/operator/tenants/{slots.tenant.slug}"
    assert program_of(olga).patch(address, {"num_slots": 1}, content_type="application/json").status_code == 200


def in_the_list(olga, slots: TenantQueue) -> None:
    form = {"form-TOTAL_FORMS": 1, "form-INITIAL_FORMS": 1, "form-0-id": slots.pk, "_save": "Save"}
    row = {"form-0-num_slots": 1, "form-0-user_slots": "", "form-0-weight": 1}
    _post(olga, "/admin/tenants/tenantqueue/", form | row)


def on_the_tenants_page(olga, slots: TenantQueue) -> None:
    form = {"name": "Acme", "slug": slots.tenant.slug, "jobs_members-TOTAL_FORMS": 0, "jobs_members-INITIAL_FORMS": 0}
    keys = {"jobs_api_keys-TOTAL_FORMS": 0, "jobs_api_keys-INITIAL_FORMS": 0}
    row = {
        "jobs_queue-TOTAL_FORMS": 1,
        "jobs_queue-INITIAL_FORMS": 1,
        "jobs_queue-0-id": slots.pk,
        "jobs_queue-0-tenant": slots.tenant_id,
    }
    row |= {"jobs_queue-0-num_slots": 1, "jobs_queue-0-weight": 1}
    _post(olga, f"/admin/tenants/tenant/{slots.tenant_id}/change/", form | keys | row)


def _post(olga, address: str, form: dict[str, object]) -> None:
    answer = browser_of(olga).post(address, form)
    assert answer.status_code == 302, answer.content.decode()


WAYS = [by_code, at_the_command_line, over_http, in_the_list, on_the_tenants_page]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_waiting_jobs_go_at_once_when_a_limit_changes(way, olga, register, sent):
    register()
    waiting = make_job(TenantFactory(queue__num_slots=0))
    way(olga, waiting.tenant.jobs_queue)
    assert [message.id for message in sent] == [waiting.pk]


def test_a_resumed_queue_is_served_at_once_from_the_admin_too(olga, register, sent):
    register()
    waiting = make_job(TenantFactory(), queue=QueueFactory(name="mail", paused=True))
    form = {"pool": "default", "weight": 2, "default_backoff": 10}
    _post(olga, f"/admin/jobs/queue/{waiting.queue_id}/change/", form)
    assert [message.id for message in sent] == [waiting.pk]


def test_the_command_line_names_the_field_too():
    slots = TenantFactory(queue__queues=["mail"]).jobs_queue
    with pytest.raises(CommandError, match=r"^queues: "):
        call_command("tenants", "slots", slots.tenant.slug, "--queues", "x" * 1000)
    slots.refresh_from_db()
    assert slots.queues == ["mail"]


def test_a_limit_that_another_session_changes_stays():
    slots = TenantFactory(queue__num_slots=3).jobs_queue
    TenantQueue.objects.filter(pk=slots.pk).update(weight=7)
    limits.change(slots, {"num_slots": 4})
    slots.refresh_from_db()
    assert (slots.num_slots, slots.weight) == (4, 7)
