"""I10 under attack: the leader is killed after each step, two lead at once, the database's clock is set.

Each due time has exactly one job, whatever happens.
"""

import threading
from datetime import timedelta

import pytest
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs import store
from jobs.engine.schedules import change, run
from jobs.engine.schedules.run import run_due
from jobs.models import Job, Schedule, ScheduleRun
from tests.clock import call_at
from tests.factories import ThingFactory

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
STEPS = [
    *((store, step) for step in ("due_schedules", "take_due_times", "insert", "note_runs")),
    (store, "advance_schedules"),
    (run, "_run_batch"),
]


def hourly(late: timedelta, **fields) -> Schedule:
    thing = ThingFactory()
    call = {"source_type": "sample.thing", "source_method": "echo", "source_id": str(thing.pk)}
    schedule = change.add(thing.tenant, name="hourly", every=3600.0, **call | {"catch_up": "all"} | fields)
    due = timezone.now() - late
    Schedule.objects.filter(pk=schedule.pk).update(starts_at=due, next_due=due, next_at=due)
    schedule.refresh_from_db()
    return schedule


def hours_that_ran(schedule: Schedule) -> list[int]:
    """The due times, as hours since the first; each with a job of its own."""
    runs = list(ScheduleRun.objects.filter(schedule=schedule).order_by("due"))
    jobs = [one.job_id for one in runs]
    assert None not in jobs
    assert sorted(jobs) == sorted(Job.objects.filter(tenant=schedule.tenant_id).values_list("pk", flat=True))
    return [round((one.due - schedule.starts_at) / HOUR) for one in runs]


@pytest.mark.django_db(transaction=True)
class TestALeaderThatDies:
    @pytest.fixture(params=["its process is killed", "its session is cut"])
    def die(self, request, onlooker):
        def die() -> None:
            if request.param == "its process is killed":
                raise SystemExit
            pid = connection.connection.info.backend_pid
            onlooker.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])

        return die

    @pytest.mark.parametrize(("where", "step"), STEPS, ids=[step for _, step in STEPS])
    def test_after_a_step_leaves_each_due_time_to_the_next_one_which_serves_it_once(
        self, where, step, die, elsewhere, monkeypatch
    ):
        late = [hourly(2 * HOUR), hourly(2 * HOUR, overlap="cancel", catch_up="one")]
        take_step = getattr(where, step)
        reached = []

        def die_after(*args, **kwargs):
            result = take_step(*args, **kwargs)
            reached.append(step)
            die()
            return result

        with monkeypatch.context() as patch:
            patch.setattr(where, step, die_after)
            with pytest.raises((SystemExit, DatabaseError, InterfaceError)):
                elsewhere(_run_and_look).result()
        assert reached
        elsewhere(run_due).result()
        assert [hours_that_ran(schedule) for schedule in late] == [[0, 1, 2], [2]]


def _run_and_look() -> None:
    """A leader that has lost its session learns of it at its next statement."""
    run_due()
    store.next_run()


@pytest.mark.django_db(transaction=True)
def test_two_leaders_at_once_whose_clocks_differ_serve_each_due_time_once(elsewhere):
    schedules = [hourly(timedelta(0)) for _ in range(5)]
    start = timezone.now()
    leaders, rounds = 4, 6
    together = threading.Barrier(leaders)

    def lead(ahead: int) -> None:
        for turn in range(rounds):
            together.wait(30)
            call_at(start + (turn + ahead) * HOUR, run_due)

    for leading in [elsewhere(lead, ahead) for ahead in range(leaders)]:
        leading.result()
    last = rounds + leaders - 2
    call_at(start + last * HOUR, run_due)  # whoever finds a schedule locked leaves it to the next pass
    for schedule in schedules:
        assert hours_that_ran(schedule) == list(range(last + 1))


@settings(max_examples=25)
@given(st.lists(st.integers(-30, 90), min_size=1, max_size=8), st.sampled_from(["all", "one"]))
def test_a_clock_that_is_set_between_turns_runs_no_due_time_twice(db, hours, catch_up):
    with transaction.atomic():
        schedule = hourly(timedelta(0), catch_up=catch_up)
        for hour in hours:
            call_at(schedule.starts_at + hour * HOUR + timedelta(minutes=7), run_due)
        reached = sorted({hour for n, hour in enumerate(hours) if hour > max([-1, *hours[:n]])})  # and never before
        assert hours_that_ran(schedule) == (reached if catch_up == "one" else list(range(max([-1, *hours]) + 1)))
        transaction.set_rollback(True)
