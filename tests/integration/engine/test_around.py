"""JOBS_AROUND: a context manager of the project's own around each body, and around the look for its object."""

from contextlib import contextmanager
from typing import ClassVar

import pytest
from django.core.checks import run_checks

from jobs import Retry, current_job
from jobs.calls import sources
from jobs.checks import TAG
from jobs.engine.attempt import body as bodies
from jobs.store import results
from tests import attempts
from tests.sample.models import Thing

pytestmark = pytest.mark.django_db(transaction=True)
THERE_AND_BACK = ["in", "found", "out", "in", "ran", "lazy", "out"]


class Noted:
    events: ClassVar[list[object]] = []
    fails_at: ClassVar[str | None] = None  # around the body
    error: ClassVar[Exception] = LookupError("no schema")


def note(event: str) -> str:
    Noted.events.append(event)
    if Noted.fails_at == event and Noted.events.count(event) == 2:
        raise Noted.error
    return event


class Late(dict[str, int]):
    """A value that is read when it is written down."""

    def items(self):
        note("lazy")
        return super().items()


@contextmanager
def in_schema(job):
    assert (job.id, job.tenant) == (current_job().id, current_job().tenant)
    note("in")
    try:
        yield
    finally:
        note("out")


@pytest.fixture
def run(sent, settings, monkeypatch, body):
    settings.JOBS_AROUND = f"{__name__}.in_schema"
    monkeypatch.setattr(Noted, "events", [])
    monkeypatch.setattr(Noted, "fails_at", None)
    find = sources.find
    monkeypatch.setattr(sources, "find", lambda *which, **how: (note("found"), find(*which, **how))[1])
    body(lambda self: Late({note("ran"): 1}), retry=Retry.every(9, max_retries=1))
    return lambda job_id: attempts.run(sent, job_id)


def test_the_context_encloses_the_look_for_the_object_and_the_whole_body(thing, run):
    ended = run(thing.async_.echo())
    assert (ended.status, results.load(ended).value) == ("success", {"ran": 1})
    assert Noted.events == THERE_AND_BACK
    assert current_job().id is None


def test_a_job_without_an_object_has_none_to_look_for(thing, run):
    ended = run(Thing.async_(tenant=thing.tenant).everything())
    assert (ended.status, Noted.events) == ("success", ["in", "out"])


@pytest.mark.parametrize("event", ["in", "out"])
def test_its_error_ends_the_attempt_as_an_error_of_the_body_does(thing, run, monkeypatch, event):
    monkeypatch.setattr(Noted, "fails_at", event)
    ended = run(thing.async_.echo())
    assert ended.status == "scheduled", "its policy wants another attempt"
    assert "LookupError: no schema" in ended.last_error
    assert Noted.events == THERE_AND_BACK[: 4 if event == "in" else None]


@pytest.mark.parametrize("event", ["in", "out"])
def test_its_time_is_the_bodys(thing, run, monkeypatch, event):
    monkeypatch.setattr(Noted, "fails_at", event)
    monkeypatch.setattr(Noted, "error", attempts.Alarm())
    assert "timed out after 2.5 s" in run(thing.async_(timeout=2.5).echo()).last_error


def test_without_it_nothing_is_imported(thing, run, settings, monkeypatch):
    del settings.JOBS_AROUND
    monkeypatch.setattr(bodies, "import_string", None)
    assert run(thing.async_.echo()).status == "success"
    assert Noted.events == ["found", "ran", "lazy"]


def test_a_path_that_leads_nowhere_is_told_by_a_check(settings):
    def told() -> list[str]:
        return [message.hint for message in run_checks(tags=[TAG]) if message.id == "jobs.E021"]

    assert told() == []
    for path in ("nowhere.at.all", f"{__name__}.nothing", f"{__name__}.THERE_AND_BACK", "x"):
        settings.JOBS_AROUND = path
        [hint] = told()
        assert "module.function" in hint
