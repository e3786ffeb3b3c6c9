"""A what-if is answered by a process of its own, which is bounded."""

import os
import sys
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection

from jobs.insight import what_if, what_if_process
from jobs.insight.what_if import Question
from jobs.models import WhatIf
from tests.factories import TenantFactory
from tests.recorded import LENGTH, ran_in_turn
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _in_this_database(monkeypatch):
    url = urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path="/" + connection.settings_dict["NAME"]))
    monkeypatch.setenv("DATABASE_URL", url)
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "tests.settings")


@pytest.fixture
def question():
    since = ran_in_turn(TenantFactory(slug="acme", queue__num_slots=1))
    return Question.of(
        since.isoformat(), (since + LENGTH).isoformat(), {"tenants": {"acme": {"num_slots": 4}}}, now=since + LENGTH
    )


def test_a_process_answers_the_question(question):
    row = what_if.ask(question, "ines")
    wait_until(lambda: WhatIf.objects.get(pk=row.pk).ended_at, "an answer")
    row.refresh_from_db()
    assert row.refused == ""
    assert row.answer["lines"][0]["changed"]["mean"] == pytest.approx(0.0, abs=1.0)


def test_a_process_that_takes_too_much_memory_says_so(question, monkeypatch):
    monkeypatch.setattr(what_if_process, "start", lambda pk: None)
    row = what_if.ask(question, "ines")
    hungry = f"import {what_if_process.MODULE} as it; it.answer = lambda pk: bytearray(2 << 30); it.main(1)"
    assert os.spawnl(os.P_WAIT, sys.executable, sys.executable, "-c", hungry) == 1, "not killed: MemoryError"
    assert WhatIf.objects.get(pk=row.pk).ended_at is None
