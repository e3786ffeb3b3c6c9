"""The thread of the recurring jobs: it depends on no one schedule."""

import threading

import pytest

from jobs.engine.schedules import change
from jobs.models import Job, Schedule
from jobs.worker.clock import background
from jobs.worker.clock.background import Schedules
from jobs.worker.clock.clock import SHORTEST_SLEEP, Clock
from tests.factories import ThingFactory
from tests.sql import sql

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def thread():
    stop = threading.Event()
    return Schedules(stop, Clock(stop))


def due() -> Schedule:
    thing = ThingFactory()
    call = {"source_type": "sample.thing", "source_method": "echo", "source_id": str(thing.pk)}
    schedule = change.add(thing.tenant, name="often", every=3600.0, **call)
    Schedule.objects.filter(pk=schedule.pk).update(next_at=schedule.starts_at, next_due=schedule.starts_at)
    return schedule


def test_a_due_schedule_that_is_locked_is_looked_at_again_after_a_pause(thread, onlooker):
    locked = due()
    with onlooker.transaction():
        onlooker.execute("SELECT FROM schedules WHERE id = %s FOR UPDATE", [locked.pk])
        assert thread.turn() == SHORTEST_SLEEP
    assert thread.turn() > SHORTEST_SLEEP
    assert Job.objects.count() == 1


def test_a_batch_that_waits_too_long_for_a_lock_ends_no_thread(thread, onlooker, monkeypatch):

    due()
    sql("SET lock_timeout = '100ms'")
    monkeypatch.setattr(background, "declare", lambda: None)
    with onlooker.transaction():
        onlooker.execute("LOCK TABLE schedule_runs IN ACCESS EXCLUSIVE MODE")
        assert thread.turn() == SHORTEST_SLEEP
    thread.turn()
    assert Job.objects.count() == 1
