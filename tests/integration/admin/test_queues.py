"""The page of queues: what may be changed, and what is refused."""

import pytest

from jobs.models import Queue
from tests.factories import QueueFactory

pytestmark = pytest.mark.django_db


def test_a_customers_login_sees_nothing_of_the_admin(mate):
    for page in ("", "jobs/jobmemory/", "jobs/queue/", "jobs/schedule/", "tenants/tenant/"):
        assert mate.get(f"/admin/{page}").status_code == 302


def test_queues_are_edited_in_the_list(admin_client):
    Queue.objects.all().delete()
    queue = QueueFactory(name="mail")
    form = {
        "form-TOTAL_FORMS": 1,
        "form-INITIAL_FORMS": 1,
        "form-0-id": queue.pk,
        "form-0-weight": 3,
        "form-0-concurrency": 2,
        "form-0-default_timeout": "",
        "form-0-paused": "on",
        "_save": "Save",
    }
    assert admin_client.post("/admin/jobs/queue/", form).status_code == 302
    queue.refresh_from_db()
    assert (queue.weight, queue.concurrency, queue.default_timeout, queue.paused) == (3, 2, None, True)


def test_a_queue_without_weight_is_refused(admin_client):
    response = admin_client.post("/admin/jobs/queue/add/", {"name": "mail", "pool": "default", "weight": "0"})
    assert response.status_code == 200
    assert "weight" in response.context["adminform"].form.errors
    assert not Queue.objects.filter(name="mail").exists()


def test_a_queue_keeps_its_name_and_is_not_deleted(admin_client):
    queue = QueueFactory(name="mail")
    form = {"name": "post", "pool": "default", "weight": 2, "default_backoff": 10}
    assert admin_client.post(f"/admin/jobs/queue/{queue.pk}/change/", form).status_code == 302
    assert admin_client.post(f"/admin/jobs/queue/{queue.pk}/delete/", {"post": "yes"}).status_code == 403
    queue.refresh_from_db()
    assert (queue.name, queue.weight) == ("mail", 2)


def test_half_a_rate_limit_of_a_queue_is_refused_at_the_field_that_is_missing(admin_client):
    form = {"name": "mail", "pool": "default", "weight": 1, "default_backoff": 10}
    response = admin_client.post("/admin/jobs/queue/add/", form | {"rate_limit": 5})
    assert list(response.context["adminform"].form.errors) == ["rate_window"]
    assert not Queue.objects.filter(name="mail").exists()
    whole = {"rate_limit": 5, "rate_window": 2_592_000}
    assert admin_client.post("/admin/jobs/queue/add/", form | whole).status_code == 302
    listed = admin_client.get("/admin/jobs/queue/").content.decode()
    assert "5 per 2592000 s" in listed.replace("\N{NO-BREAK SPACE}", " ")
