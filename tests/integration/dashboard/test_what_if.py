"""The page of what-if: a form without JavaScript, a page that looks again, and the answer."""

import pytest

from jobs.console.operations import what_if_process
from jobs.models import WhatIf
from tests.factories import TenantFactory
from tests.recorded import LENGTH, ran_in_turn

pytestmark = pytest.mark.django_db(transaction=True)
ASK = "/ops/what-if/ask"


@pytest.fixture
def ines(operator, monkeypatch):
    monkeypatch.setattr(what_if_process, "start", lambda pk: None)
    return operator("view_tenantqueue")


@pytest.fixture
def since():
    return ran_in_turn(TenantFactory(slug="acme", queue__num_slots=1))


def form(begin, **fields) -> dict[str, object]:
    times = {"since": f"{begin:%Y-%m-%dT%H:%M:%S}", "until": f"{begin + LENGTH:%Y-%m-%dT%H:%M:%S}"}
    change = {"kind": ["tenants", "queues"], "name": ["acme", ""], "limit": ["num_slots", "weight"], "value": ["4", ""]}
    return times | change | fields


def test_a_question_leads_to_a_page_that_looks_again_until_there_is_an_answer(ines, since):
    asked = ines.post(ASK, form(since))
    waiting = ines.get(asked["Location"])
    assert waiting["Refresh"] == "2"
    assert "It is being replayed" in waiting.content.decode()
    what_if_process.answer(WhatIf.objects.get().pk)
    answered = ines.get(asked["Location"])
    shown = answered.content.decode()
    assert "Refresh" not in answered
    assert "A replay of what was is 0% off" in shown
    assert "shorter" in shown
    assert 'value="acme"' in shown, "the question is there, to be asked again with other limits"


def test_what_cannot_be_asked_is_shown_again_with_the_reason(ines, since):
    shown = ines.post(ASK, form(since, value=["<many>", ""])).content.decode()
    assert "Tenants.acme.num_slots" in shown
    assert "&lt;many&gt;" in shown
    assert not WhatIf.objects.exists()
    for fields in ({"since": "yesterday"}, {"kind": ["x", ""]}, {"limit": []}, {"value": ["\x00", ""]}):
        assert ines.post(ASK, form(since, **fields)).status_code in (200, 303)


def test_a_link_begins_with_the_tenant(ines):
    assert 'value="acme"' in ines.get("/ops/what-if/?tenant=acme").content.decode()
