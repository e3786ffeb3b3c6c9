"""Queues, tenants, keys, members and schedules are made, and rules changed, on the pages where they are looked for."""

import re

import pytest

from jobs.models import Queue, Schedule
from tenants.auth import tenant_of
from tenants.models import ApiKey, Change, Member, Tenant
from tests.factories import MemberFactory, QueueFactory, TenantFactory, UserFactory
from tests.integration.dashboard.reading import text

pytestmark = pytest.mark.django_db
RULE = {"jitter": "0", "catch_up": "one", "overlap": "queue", "tz": "Europe/Berlin"}


def wrong(answer) -> str:
    assert answer.status_code == 422
    return " ".join(re.findall(r'<p class="wrong"[^>]*>\s*(.*?)\s*</p>', answer.content.decode()))


def test_a_new_queue_has_its_limits_and_an_entry_in_the_audit_log(client):
    assert 'href="/ops/new-queue/"' in text(client.get("/ops/queues/"))
    assert 'name="concurrency"' in text(client.get("/ops/new-queue/"))
    given = {"name": "exports", "weight": "3", "pool": "default", "concurrency": "4", "default_backoff": "5"}
    answer = client.post("/ops/new-queue/add", given, follow=True)
    assert "Created queue exports." in text(answer)
    [queue] = Queue.objects.filter(name="exports")
    assert (queue.weight, queue.concurrency, queue.paused) == (3, 4, False)
    assert Change.objects.filter(verb="added", kind="jobs.queue", subject="exports").exists()
    assert "already exists" in wrong(client.post("/ops/new-queue/add", given))
    half = client.post("/ops/new-queue/add", given | {"name": "mails", "rate_limit": "5"})
    assert half.status_code == 422
    assert 'role="alert"' in half.content.decode()
    assert not Queue.objects.filter(name="mails").exists()


def test_a_new_tenant_has_the_slots_that_its_operator_may_give(client, operator):
    assert 'href="/ops/new-tenant/"' in text(client.get("/ops/tenants/"))
    given = {"name": "Globex & Co.", "slug": "globex", "num_slots": "4", "weight": "2"}
    assert client.post("/ops/new-tenant/add", given)["Location"] == "/ops/tenants/globex/"
    slots = Tenant.objects.get(slug="globex").jobs_queue
    assert (slots.num_slots, slots.weight) == (4, 2)
    assert "already exists" in wrong(client.post("/ops/new-tenant/add", given | {"name": "Other"}))
    assert "whole number" in wrong(client.post("/ops/new-tenant/add", given | {"slug": "o", "num_slots": "x"}))
    operator("add_tenant").post("/ops/new-tenant/add", given | {"name": "Initech", "slug": "initech"})
    assert Tenant.objects.get(slug="initech").jobs_queue.num_slots == 0
    assert Tenant.objects.count() == 2


def test_a_new_key_is_shown_once_and_a_member_of_another_tenant_is_refused(client):
    acme, stranger = TenantFactory(slug="acme"), MemberFactory(user=UserFactory(username="otto"))
    UserFactory(username="ines")
    page = text(client.get("/ops/tenants/acme/"))
    assert 'href="/ops/tenants/acme/new-key/"' in page
    assert 'href="/ops/tenants/acme/new-member/"' in page
    answer = client.post("/ops/tenants/acme/add-key", {"name": "nightly export"}, follow=True)
    [token] = re.findall(r"The key is <code>([^<]+)</code>", text(answer))
    assert tenant_of(token) == acme
    assert token not in text(client.get("/ops/tenants/acme/"))
    past = client.post("/ops/tenants/acme/add-key", {"name": "late", "expires": "2001-01-01 00:00"})
    assert "Must be in the future" in wrong(past)
    assert ApiKey.objects.count() == 1
    assert client.post("/ops/tenants/acme/add-member", {"user": "ines"})["Location"] == "/ops/tenants/acme/"
    assert Member.objects.get(user__username="ines").tenant == acme
    refused = wrong(client.post("/ops/tenants/acme/add-member", {"user": "otto"}))
    assert f"otto already belongs to {stranger.tenant.slug}" in refused.replace("Otto", "otto")
    assert "There is no &#x27;nobody&#x27;" in wrong(client.post("/ops/tenants/acme/add-member", {"user": "nobody"}))
    assert client.get("/ops/tenants/nobody/new-key/").status_code == 404


def test_a_schedule_is_made_previewed_and_changed_by_its_name(client):
    TenantFactory(slug="acme")
    QueueFactory(name="mail")
    given = {"tenant": "acme", "name": "hourly", "job_type": "reports.datareport.refresh_all", "cron": "0 6 * * 1-5"}
    preview = client.post("/ops/schedules/add", given | RULE | {"_preview": "1"})
    assert "Not stored yet." in text(preview)
    assert not Schedule.objects.exists()
    assert client.post("/ops/schedules/add", given | RULE)["Location"] == "/ops/schedules/"
    one = Schedule.objects.get()
    assert (one.name, one.cron, one.tz, one.by_tenant) == ("hourly", "0 6 * * 1-5", "Europe/Berlin", False)
    page = text(client.get("/ops/schedules/"))
    assert f'href="/ops/schedules/{one.pk}/"' in page
    assert 'href="/ops/schedules/new/"' in page
    assert 'value="0 6 * * 1-5"' in text(client.get(f"/ops/schedules/{one.pk}/"))
    changed = given | RULE | {"cron": "0 7 * * *"}
    assert client.post(f"/ops/schedules/{one.pk}/change", changed).status_code == 303
    one.refresh_from_db()
    assert (one.cron, one.tenant.slug) == ("0 7 * * *", "acme")
    assert "five fields" in wrong(client.post(f"/ops/schedules/{one.pk}/change", changed | {"cron": "x"})).lower()
    assert "is unknown; known: acme" in wrong(client.post("/ops/schedules/add", given | RULE | {"tenant": "nobody"}))
    Schedule.objects.update(declared=True)
    assert client.get(f"/ops/schedules/{one.pk}/").status_code == 404
    assert client.post(f"/ops/schedules/{one.pk}/change", changed).status_code == 404
    assert f'href="/ops/schedules/{one.pk}/"' not in text(client.get("/ops/schedules/"))
