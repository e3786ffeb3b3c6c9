"""The operators' API of what-if: a question is taken up, answered by a process of its own, and read until then."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.engine.upkeep.prune import prune
from jobs.insight import what_if_answer, what_if_process
from jobs.models import WhatIf
from tests.callers import program_of, superuser
from tests.clock import call_at
from tests.factories import TenantFactory
from tests.recorded import LENGTH, ran_in_turn

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/api/v1/operator/what-if"


@pytest.fixture
def operator():
    return program_of(superuser(username="ines"))


@pytest.fixture
def begun(monkeypatch) -> list[int]:
    """The questions for which a process was begun."""
    begun: list[int] = []
    monkeypatch.setattr(what_if_process, "start", begun.append)
    return begun


@pytest.fixture
def since():
    return ran_in_turn(TenantFactory(slug="acme", queue__num_slots=1))


def ask(client, begin, **changes):
    body = {"since": begin.isoformat(), "until": (begin + LENGTH).isoformat()} | changes
    return client.post(PATH, json.dumps(body), "application/json")


def test_a_question_is_taken_up_and_answered_later(operator, begun, since):
    taken = ask(operator, since, tenants={"acme": {"num_slots": 4}}, pools={"default": {"processes": 2}})
    assert (taken.status_code, taken.json()["state"], taken.json()["answer"]) == (202, "replaying", None)
    assert begun == [taken.json()["id"]]
    assert operator.get(taken["Location"]).json() == taken.json()
    what_if_answer.answer(*begun)
    found = operator.get(taken["Location"]).json()
    assert found["state"] == "answered"
    (line,) = found["answer"]["lines"]
    assert (line["tenant"], line["attempts"], line["slot_seconds"]) == ("acme", 4, 40.0)
    assert [round(line[name]["mean"]) for name in ("recorded", "replayed", "changed")] == [15, 15, 5]
    assert (line["noticeable"], line["difference"]) == (True, "67 % less")
    assert "in queue default would wait 5.0 s instead of 15 s on average (67 % less)" in found["answer"]["told"]
    assert WhatIf.objects.get().asked_by == "ines"


def test_a_single_question_is_replayed_at_a_time(operator, begun, since, monkeypatch):
    taken, ahead = ask(operator, since), timezone.now() + timedelta(hours=1)
    monkeypatch.setattr(timezone, "now", lambda: ahead)  # this machine's
    assert operator.get(taken["Location"]).json()["state"] == "replaying"
    refused = ask(operator, since)
    assert (refused.status_code, len(begun), WhatIf.objects.count()) == (422, 1, 1)
    assert "another one is being replayed" in refused.json()["errors"][0]["message"]


def test_an_invalid_question_names_the_field_and_begins_nothing(operator, begun, since):
    for changes, field in (
        ({"tenants": {"nobody": {"weight": 2}}}, "tenant"),
        ({"tenants": {"acme": {"weight": 0}}}, "tenants.acme.weight"),
        ({"tenants": {"acme": {"slots": 3}}}, "tenants.acme.slots"),
        ({"pools": {"default": {"seats": 1001}}}, "pools.default.seats"),
        ({"pools": {"nowhere": {"processes": 1}}}, "pools"),
        ({"since": "2130-01-01T00:00:00Z"}, "since"),
    ):
        refused = ask(operator, since, **changes)
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, field)
    assert (begun, WhatIf.objects.count()) == ([], 0)


def test_a_question_that_became_impossible_is_refused_with_the_reason(operator, begun, since, monkeypatch):
    taken = ask(operator, since)
    monkeypatch.setattr("jobs.insight.what_if.MOST_ATTEMPTS", 3)
    monkeypatch.setattr("jobs.insight.what_if.answer_document.__defaults__", (3,))
    what_if_answer.answer(*begun)
    found = operator.get(taken["Location"]).json()
    assert (found["state"], found["answer"]) == ("refused", None)
    assert "more than 3 attempts" in found["refused"]


def test_a_question_whose_process_ended_is_lost_and_blocks_no_other(operator, begun, since):
    taken = ask(operator, since)
    WhatIf.objects.update(asked_at=timezone.now() - timedelta(minutes=10))
    assert operator.get(taken["Location"]).json()["state"] == "lost"
    assert ask(operator, since).status_code == 202


def test_an_answer_is_kept_for_a_day(operator, begun, since):
    taken = ask(operator, since)
    call_at(timezone.now() + timedelta(hours=23), prune)
    assert operator.get(taken["Location"]).status_code == 200
    call_at(timezone.now() + timedelta(hours=25), prune)
    assert operator.get(taken["Location"]).status_code == 404
