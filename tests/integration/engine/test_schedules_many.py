"""Many schedules at once: more than a turn of the clock can serve in time, and some of them that cannot be served.

Late is not missed: a due time was missed only if no clock ran then, however long a turn takes, whoever leads meanwhile.
"""

from datetime import timedelta

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs import store
from jobs.engine.schedules import change, run
from jobs.engine.schedules.call import requests_of
from jobs.engine.schedules.run import run_due
from jobs.models import Job, Recorded, Schedule, ScheduleRun
from tenants.models import TenantQueue
from tests.clock import call_at
from tests.factories import ThingFactory
from tests.sample.models import Thing
from tests.sql import sql

pytestmark = pytest.mark.django_db
SIX = timezone.now() - timedelta(hours=10)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
MISSED = "It was missed: no clock ran at its time."


def due_at_once(number: int, **fields) -> list[Schedule]:
    """Of a tenant each, every two hours, due in the same second."""
    made = []
    for thing in [ThingFactory() for _ in range(number)]:
        call = {"source_type": "sample.thing", "source_method": "echo", "source_id": str(thing.pk)}
        made.append(change.add(thing.tenant, name="every two hours", every=7200.0, **call | fields))
    Schedule.objects.update(starts_at=SIX, next_due=SIX, next_at=SIX)
    return made


def outcomes() -> list[tuple[int, bool, str]]:
    """The runs: hours after six, whether it has a job, and the note."""
    runs = ScheduleRun.objects.order_by("due", "note")
    return [(round((one.due - SIX) / HOUR), one.job_id is not None, one.note) for one in runs]


class Time:
    """Passes between two batches. looks: the clock's loop looks meanwhile."""

    def __init__(self, monkeypatch, *, passes: timedelta, looks: bool) -> None:
        self.now, self.passes, self.looks = SIX, passes, looks
        self.batches = 0
        self.due_schedules = store.due_schedules
        monkeypatch.setattr(run, "BATCH", 3)
        monkeypatch.setattr(store, "due_schedules", self.next_batch)

    def next_batch(self, batch):
        if self.batches:
            self.go_on(self.passes)
        self.batches += 1
        return call_at(self.now, self.due_schedules, batch)

    def go_on(self, passes: timedelta) -> None:
        while self.looks and passes > 5 * SECOND:
            self.now, passes = self.now + 5 * SECOND, passes - 5 * SECOND
            call_at(self.now, store.note_look)
        self.now += passes


class TestMoreThanATurnServesInAMinute:
    @pytest.mark.parametrize("catch_up", ["none", "one", "all"])
    @pytest.mark.parametrize("passes", [SECOND, 70 * SECOND, 20 * MINUTE], ids=str)
    def test_all_run_however_late(self, passes, catch_up, monkeypatch):
        due_at_once(10, catch_up=catch_up)
        call_at(SIX, store.note_look)
        time = Time(monkeypatch, passes=passes, looks=True)
        run_due()
        assert time.batches == 4
        assert outcomes() == [(0, True, "")] * 10

    @pytest.mark.parametrize(("catch_up", "served"), [("none", 3), ("one", 10)])
    def test_a_due_time_that_no_clock_watched_was_missed(self, catch_up, served, monkeypatch):
        """It is no leader any more, or stands still: then nobody may say that it was watched."""
        due_at_once(10, catch_up=catch_up)
        call_at(SIX, store.note_look)
        Time(monkeypatch, passes=70 * SECOND, looks=False)
        run_due()
        assert sorted(outcomes()) == [(0, False, MISSED)] * (10 - served) + [(0, True, "")] * served

    def test_the_next_leader_goes_on_with_what_the_dead_one_left_late(self, monkeypatch):
        due_at_once(10, catch_up="none")
        call_at(SIX, store.note_look)
        time = Time(monkeypatch, passes=70 * SECOND, looks=True)
        run._run_batch()
        time.go_on(5 * MINUTE)
        time.looks = False
        time.go_on(50 * SECOND)  # until another leads
        time.looks = True
        run_due()
        assert outcomes() == [(0, True, "")] * 10

    def test_after_an_outage_the_last_batch_is_judged_as_the_first(self, monkeypatch):
        """What came due in the outage was missed; what came due since was not, however late its batch is."""
        due_at_once(5, catch_up="none")
        time = Time(monkeypatch, passes=20 * MINUTE, looks=True)
        time.now = SIX + 2 * HOUR + 30 * SECOND
        call_at(time.now, store.note_look)
        on_time = due_at_once(5, catch_up="none")
        Schedule.objects.filter(pk__in=[one.pk for one in on_time]).update(next_due=SIX + 2 * HOUR)
        Schedule.objects.exclude(pk__in=[one.pk for one in on_time]).update(every=14400.0)
        run_due()
        assert outcomes() == [(0, False, MISSED)] * 5 + [(2, True, "")] * 5

    @pytest.mark.parametrize("set_by", [-3 * HOUR, 3 * HOUR], ids=["back", "ahead"])
    def test_a_clock_that_is_set_is_no_clock_that_looked(self, set_by):
        call_at(SIX, store.note_look)
        call_at(SIX + 30 * SECOND, store.note_look)
        assert Recorded.objects.get(task="missed").upto == SIX - MINUTE
        call_at(SIX + set_by, store.note_look)
        assert Recorded.objects.get(task="missed").upto == SIX + set_by - MINUTE


def statements_for(number: int) -> int:
    due_at_once(number)
    with CaptureQueriesContext(connection) as queries:
        assert run_due() == number
    return len(queries)


def test_many_schedules_of_many_tenants_take_the_statements_of_one(monkeypatch):
    one = statements_for(1)
    Schedule.objects.all().delete()
    assert statements_for(40) == one


def broken_object(schedule: Schedule, monkeypatch) -> None:
    """Its model's own code fails for it, whoever loads it."""
    load = Thing.from_db.__func__

    def from_db(cls, *args, **options):
        found = load(cls, *args, **options)
        if str(found.pk) == schedule.source_id:
            raise ZeroDivisionError
        return found

    monkeypatch.setattr(Thing, "from_db", classmethod(from_db))


def broken_query(schedule: Schedule, monkeypatch) -> None:
    """And this code leaves its transaction broken."""
    load = Thing.from_db.__func__

    def from_db(cls, *args, **options):
        found = load(cls, *args, **options)
        if str(found.pk) == schedule.source_id:
            sql("SELECT 1 / 0")
        return found

    monkeypatch.setattr(Thing, "from_db", classmethod(from_db))


def full_backlog(schedule: Schedule, monkeypatch) -> None:
    TenantQueue.objects.filter(tenant=schedule.tenant_id).update(max_waiting=0)


BAD = {
    "its object is gone": (lambda one, _: Thing.objects.filter(pk=one.source_id).delete(), "source_id: there is no"),
    "its id is none": (lambda one, _: Schedule.objects.filter(pk=one.pk).update(source_id="x"), "source_id: there is"),
    "its id is too large": (
        lambda one, _: Schedule.objects.filter(pk=one.pk).update(source_id="9" * 30),
        "source_id: there is no",
    ),
    "its method is gone": (
        lambda one, _: Schedule.objects.filter(pk=one.pk).update(source_method="gone"),
        "source_method: 'gone'",
    ),
    "its queue is unknown": (lambda one, _: Schedule.objects.filter(pk=one.pk).update(queue="gone"), "queue: 'gone'"),
    "its model breaks": (broken_object, "ZeroDivisionError when its object was loaded"),
    "its backlog is full": (full_backlog, ""),
    "its query breaks": (broken_query, ""),
}


@pytest.mark.parametrize(
    ("spoil", "why", "position"), [(*bad, [0, 33, 63][nth % 3]) for nth, bad in enumerate(BAD.values())], ids=BAD.keys()
)
def test_a_schedule_that_cannot_be_served_fails_alone_after_a_few_statements(spoil, why, position, monkeypatch):
    schedules = due_at_once(64)
    bad = schedules[position]
    spoil(bad, monkeypatch)
    with CaptureQueriesContext(connection) as queries:
        run_due()
    assert len(queries) < 2 * 64, "one by one it would be more than three for each"
    assert Job.objects.count() == 63
    assert not Job.objects.filter(tenant=bad.tenant_id).exists()
    bad.refresh_from_db()
    assert bad.paused_because.startswith(why)
    assert bad.paused == bool(why)
    assert not Schedule.objects.exclude(pk=bad.pk).filter(paused=True).exists()


@pytest.mark.django_db(transaction=True)
def test_a_batch_whose_session_is_lost_while_objects_are_loaded_leaves_everything_to_the_next(onlooker, monkeypatch):
    due_at_once(4)

    def cut(schedules):
        onlooker.execute("SELECT pg_terminate_backend(%s, 10000)", [connection.connection.info.backend_pid])
        return requests_of(schedules)

    with monkeypatch.context() as patch:
        patch.setattr(run, "requests_of", cut)
        with pytest.raises(DatabaseError):
            run_due()
    connection.close()
    assert run_due() == 4
    assert Job.objects.count() == 4
