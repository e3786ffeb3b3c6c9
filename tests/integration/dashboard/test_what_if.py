"""The page of what-if: a form without JavaScript, a page that looks again, and the answer."""

import re

import pytest

from jobs.insight import what_if_answer, what_if_process
from jobs.models import WhatIf
from tenants.models import Change, TenantQueue
from tests.factories import QueueFactory, TenantFactory
from tests.recorded import LENGTH, ran_in_turn

pytestmark = pytest.mark.django_db(transaction=True)
ASK = "/ops/what-if/ask"


@pytest.fixture
def ines(operator, monkeypatch):
    monkeypatch.setattr(what_if_process, "start", lambda pk: None)
    return operator("view_tenantqueue")


@pytest.fixture
def since():
    return ran_in_turn(TenantFactory(slug="acme", name="Acme", queue__num_slots=1))


def form(begin, **fields) -> dict[str, object]:
    times = {"since": f"{begin:%Y-%m-%dT%H:%M:%S}", "until": f"{begin + LENGTH:%Y-%m-%dT%H:%M:%S}"}
    change = {"kind": ["tenants", "queues"], "name": ["acme", ""], "limit": ["num_slots", "weight"], "value": ["4", ""]}
    return times | change | fields


def test_a_question_leads_to_a_page_that_looks_again_until_there_is_an_answer(ines, since):
    asked = ines.post(ASK, form(since))
    waiting = ines.get(asked["Location"])
    assert waiting["Refresh"] == "2"
    assert "The jobs are being replayed" in waiting.content.decode()
    what_if_answer.answer(WhatIf.objects.get().pk)
    answered = ines.get(asked["Location"])
    shown = answered.content.decode()
    assert "Refresh" not in answered
    assert "misses the mean wait by 0 %" in shown
    assert "Acme in queue default would wait 0.0 s instead of 15 s on average (100 % less)" in shown
    assert "no other tenant would wait noticeably longer" in shown
    assert 'data-label="Difference">100 % less</td>' in shown
    assert 'data-label="Mean wait"><svg class="moved"' in shown
    assert 'data-label="Slot-seconds" class="number">40</td>' in shown
    assert "A difference is noticeable if" in shown
    assert 'value="acme"' in shown, "the question is there, to be asked again with other limits"


def test_an_invalid_question_is_shown_again_with_the_reason(ines, since):
    shown = ines.post(ASK, form(since, value=["<many>", ""])).content.decode()
    assert "Tenants.acme.num_slots" in shown
    assert "&lt;many&gt;" in shown
    assert not WhatIf.objects.exists()
    for fields in ({"since": "yesterday"}, {"kind": ["x", ""]}, {"limit": []}, {"value": ["\x00", ""]}):
        assert ines.post(ASK, form(since, **fields)).status_code in (200, 303)


def test_a_link_begins_with_the_tenant(ines):
    assert 'value="acme"' in ines.get("/ops/what-if/?tenant=acme").content.decode()


def test_a_link_with_a_pool_begins_with_a_limit_of_pools(ines):
    shown = ines.get("/ops/what-if/?pool=mail").content.decode()
    assert re.search(r'<option value="processes" selected>', shown)
    assert re.search(r'<option value="seats">', shown)


def test_a_form_of_limits_asks_what_those_that_were_written_would_do(operator):
    """Of a tenant and of a queue; nothing is changed, and what decides nobody's turn is not asked."""
    oscar = operator("view_tenantqueue", "change_tenantqueue", "view_queue", "change_queue")
    tenant = TenantFactory(slug="acme", queue__num_slots=1, queue__user_slots=2)
    QueueFactory(name="mail")
    written = {
        "num_slots": "4",
        "user_slots": "",
        "weight": "1",
        "max_waiting": "9",
        "queue_slots": "mail=2",
        "what_if": "1",
    }
    asked = oscar.post("/ops/tenants/acme/change", written)
    assert (asked.status_code, asked["Location"]) == (
        303,
        "/ops/what-if/?tenant=acme&num_slots=4&user_slots=none&queue_slots=mail%3D2",
    )
    assert (TenantQueue.of(tenant).num_slots, Change.objects.count()) == (1, 0)
    page = " ".join(oscar.get(asked["Location"]).content.decode().split())
    assert page.count('value="acme"') == 3
    for limit, value in (("num_slots", "4"), ("user_slots", "none"), ("queue_slots", "mail=2")):
        assert f'<option value="{limit}" selected>' in page
        assert f'name="value" value="{value}"' in page
    of_queue = oscar.post("/ops/queues/mail/change", {"weight": "3", "what_if": "1"})
    assert of_queue["Location"] == "/ops/what-if/?queue=mail&weight=3"
    assert "What would it do?" in oscar.get("/ops/tenants/acme/").content.decode()
    assert "What would it do?" in oscar.get("/ops/queues/?change=mail").content.decode()
    assert oscar.post("/ops/tenants/acme/change", {"num_slots": "many", "what_if": "1"})["Location"] == "/ops/"


def test_in_the_admin_each_field_of_a_limit_leads_to_the_question(admin_client):
    tenant = TenantFactory(slug="acme")
    for path in (f"tenantqueue/{tenant.jobs_queue.pk}", f"tenant/{tenant.pk}"):
        of_tenant = admin_client.get(f"/admin/tenants/{path}/change/").content.decode()
        assert 'href="/ops/what-if/?tenant=acme&amp;num_slots="' in of_tenant, path
        assert "max_waiting=" not in of_tenant
    queue = QueueFactory(name="mail")
    of_queue = admin_client.get(f"/admin/jobs/queue/{queue.pk}/change/").content.decode()
    assert 'href="/ops/what-if/?queue=mail&amp;concurrency="' in of_queue
    for path in ("jobs/queue", "tenants/tenant"):
        assert "what-if" not in admin_client.get(f"/admin/{path}/add/").content.decode()


def test_the_admin_leads_nobody_there_who_may_not_ask(operator):
    tenant, ola = TenantFactory(slug="acme"), operator("change_tenant", "change_tenantqueue", "change_queue")
    for path in (f"tenants/tenant/{tenant.pk}", f"jobs/queue/{QueueFactory().pk}"):
        shown = ola.get(f"/admin/{path}/change/")
        assert shown.status_code == 200
        assert "what-if" not in shown.content.decode()
