"""The dispatches of a web process: made beside its requests, and of many that ask at once, one serves all."""

import os
import threading
from types import SimpleNamespace

import pytest
from django.core import mail

from jobs.engine.door import dispatch, dispatcher
from jobs.engine.door.dispatcher import BackgroundWork
from jobs.engine.process import runtime
from jobs.engine.submitting.submit import submit
from tests.conftest import request_for
from tests.factories import TenantFactory
from tests.sql import value
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def started(monkeypatch):
    """A dispatcher whose dispatches are these: `started(function)`."""

    def start(made) -> BackgroundWork:
        monkeypatch.delattr(mail, "outbox")
        monkeypatch.setattr(dispatch, "dispatch", made)
        monkeypatch.setattr(dispatcher, "close_old_connections", lambda: None)
        background = BackgroundWork(None, pause=0)
        runtime.change(relay=background.request)
        return background

    yield start
    runtime.change(relay=None)
    for thread in threading.enumerate():
        if thread.name == "dispatcher":
            thread._target.__self__.stop()
            thread.join(30)


def test_a_submit_does_not_wait_for_the_dispatch(started):
    door, made, tenant = threading.Event(), [], TenantFactory()
    started(lambda: (door.wait(30), made.append(True)))
    for _ in range(3):
        submit(request_for(tenant))
    assert not made
    door.set()
    wait_until(lambda: made, "the dispatch is made")


def test_a_single_dispatch_serves_all_that_ask_while_one_is_made(started):
    inside, door, made = threading.Event(), threading.Event(), []

    def one() -> None:
        inside.set()
        door.wait(30)
        made.append(True)

    tenant = TenantFactory()
    started(one)
    submit(request_for(tenant))
    assert inside.wait(30)
    for _ in range(20):
        submit(request_for(tenant))
    door.set()
    wait_until(lambda: len(made) == 2, "the one that was under way, and one for all the others")
    assert not threading.Event().wait(0.1), "and no more"
    assert len(made) == 2


def test_the_dispatcher_rests_longer_while_a_full_pool_serves_itself(started, monkeypatch, register):
    rests = []
    monkeypatch.setattr(dispatcher, "time", SimpleNamespace(sleep=rests.append))
    started(dispatch.dispatch)
    register(concurrency=1)
    tenant = TenantFactory(queue__num_slots=2)
    for _ in range(2):
        seen = len(rests)
        submit(request_for(tenant))
        wait_until(lambda seen=seen: len(rests) > seen, "a dispatch is made")
    assert rests == [0, dispatcher.FULL_PAUSE]


def test_after_one_that_fails_the_next_is_made(started, caplog):
    made = []

    def fail_first() -> None:
        made.append(True)
        if len(made) == 1:
            raise RuntimeError("the door is jammed")

    tenant = TenantFactory()
    started(fail_first)
    for n in (1, 2):
        submit(request_for(tenant))
        wait_until(lambda n=n: len(made) == n, "the dispatch is made")
    assert "dispatch failed error=RuntimeError" in caplog.text


def test_a_dispatch_whose_session_was_cut_is_made_in_another(started, onlooker):
    """Otherwise the job would wait for the clock."""
    sessions, tenant = [], TenantFactory()

    def look() -> None:
        sessions.append(value("SELECT pg_backend_pid()"))

    started(look)
    for n in (1, 2):
        submit(request_for(tenant))
        wait_until(lambda n=n: len(sessions) == n, "the dispatch is made")
        onlooker.execute("SELECT pg_terminate_backend(%s, 10000)", [sessions[-1]])
    assert sessions[0] != sessions[1]


def test_a_process_that_ends_waits_for_the_dispatch_of_what_it_submitted(started):
    door, inside, made, tenant = threading.Event(), threading.Event(), [], TenantFactory()

    def one() -> None:
        inside.set()
        door.wait(30)
        made.append(True)

    background = started(one)
    submit(request_for(tenant))
    assert inside.wait(30)
    submit(request_for(tenant))  # while one is under way, which may not see it
    door.set()
    background.finish()
    assert len(made) == 2


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # as servers do that load before they fork
def test_a_forked_process_has_a_dispatcher_of_its_own(started):
    background = started(lambda: os.write(told, str(os.getpid()).encode()))
    hears, told = os.pipe()
    submit(request_for(TenantFactory()))
    assert int(os.read(hears, 20)) == os.getpid()
    if not (child := os.fork()):
        try:
            background.request()
            background.finish()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert int(os.read(hears, 20)) == child


def test_in_tests_of_a_project_who_submits_dispatches_in_its_own_session(started, monkeypatch):
    made = []
    background = started(lambda: made.append(threading.current_thread()))
    monkeypatch.setattr(mail, "outbox", [], raising=False)
    background.request()
    assert made == [threading.current_thread()]
