"""The page of pools: operators set kind and seats there, and read what is left to do."""

import pytest

from jobs.models import Pool
from tenants.models import Change
from tests.factories import QueueFactory

pytestmark = pytest.mark.django_db

ADD = "/admin/jobs/pool/add/"
LIGHT = {"name": "mail", "kind": "light", "seats": "200"}


def told(response) -> str:
    return " ".join(map(str, response.context["messages"]))


def test_a_customers_login_sees_no_pools(mate):
    assert mate.get("/admin/jobs/pool/").status_code == 302
    assert mate.post(ADD, LIGHT).status_code == 302
    assert not Pool.objects.exists()


def test_a_pool_is_made_light_and_the_change_is_noted(admin_client, register):
    QueueFactory(name="mail", pool="mail")
    register(pool="mail", concurrency=4)
    response = admin_client.post(ADD, LIGHT, follow=True)
    assert Pool.objects.filter(name="mail", kind="light", seats=200).exists()
    assert "Restart the workers of pool mail" in told(response)
    page = response.content.decode()
    assert "1, 0 of 4 seats in use; to be restarted: 1" in page
    assert "Seats of a process" in page
    [change] = Change.objects.filter(kind="jobs.pool")
    assert (change.verb, change.subject, change.who) == ("added", "mail", "admin")


def test_a_light_pool_gets_threads_and_an_ordinary_one_none(admin_client):
    assert admin_client.post(ADD, LIGHT | {"threads": "on"}).status_code == 302
    assert Pool.objects.get().threads
    assert admin_client.post("/admin/jobs/pool/mail/change/", LIGHT).status_code == 302
    assert not Pool.objects.get().threads
    form = {"name": "post", "kind": "ordinary", "seats": "1", "threads": "on"}
    assert list(admin_client.post(ADD, form).context["adminform"].form.errors) == ["threads"]


def test_seats_without_kind_are_refused_at_their_field(admin_client):
    response = admin_client.post(ADD, LIGHT | {"kind": "ordinary"})
    assert list(response.context["adminform"].form.errors) == ["seats"]
    assert list(admin_client.post(ADD, LIGHT | {"seats": "1001"}).context["adminform"].form.errors) == ["seats"]
    assert list(admin_client.post(ADD, LIGHT | {"seats": ""}).context["adminform"].form.errors) == ["seats"]
    assert not Pool.objects.exists()


def test_a_new_pool_is_shown_as_ordinary_with_one_seat(admin_client):
    form = admin_client.get(ADD).context["adminform"].form
    assert (form["kind"].value(), form["seats"].value()) == ("ordinary", 1)


def test_a_pool_keeps_its_name_and_is_made_ordinary_again_but_not_deleted(admin_client):
    Pool.objects.create(**LIGHT)
    form = {"name": "post", "kind": "ordinary", "seats": "1"}
    assert admin_client.post("/admin/jobs/pool/mail/change/", form).status_code == 302
    assert admin_client.post("/admin/jobs/pool/mail/delete/", {"post": "yes"}).status_code == 403
    assert list(Pool.objects.values_list("name", "kind", "seats")) == [("mail", "ordinary", 1)]
    [change] = Change.objects.filter(kind="jobs.pool")
    assert change.values == {"kind": ["light", "ordinary"], "seats": [200, 1]}


def test_a_queue_that_moves_into_a_light_pool_names_its_job_types_that_do_not_fit(admin_client):
    Pool.objects.create(**LIGHT)
    queue = QueueFactory(name="reports")
    form = {"name": "reports", "pool": "mail", "weight": 1, "default_backoff": 10}
    response = admin_client.post(f"/admin/jobs/queue/{queue.pk}/change/", form, follow=True)
    assert "reports.datareport.execute" in told(response)
    response = admin_client.post(f"/admin/jobs/queue/{queue.pk}/change/", form | {"weight": 2}, follow=True)
    assert "reports.datareport.execute" not in told(response)
