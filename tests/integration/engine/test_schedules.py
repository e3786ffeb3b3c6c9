"""Recurring jobs: one for each due time, whatever was missed, whoever runs them, whatever goes wrong."""

from datetime import UTC, datetime, timedelta
from time import monotonic
from unittest.mock import Mock

import pytest
from django.db import InterfaceError, connection, transaction
from django.db.models import F
from django.utils import timezone

from jobs import store
from jobs.calls.refusals import InvalidRequest
from jobs.engine.schedules import change, run
from jobs.engine.schedules.run import run_due
from jobs.lifecycle import Status
from jobs.models import Job, Schedule, ScheduleRun
from plumbing.text import count_of_jobs
from tenants.models import TenantQueue
from tests.clock import call_at
from tests.factories import TenantFactory, ThingFactory, make_job
from tests.sql import sql

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def thing():
    return ThingFactory()


def hourly(thing, late: timedelta = timedelta(0), **fields) -> Schedule:
    """Every hour, on a thing; its next time is that much behind the database's clock."""
    said = {"name": "hourly", "every": 3600.0, "source_type": "sample.thing", "source_method": "echo"}
    said |= {"source_id": str(thing.pk), "args": {"value": 1}} | fields
    schedule = change.add(thing.tenant, **said)
    return fall_behind(schedule, late)


def fall_behind(schedule: Schedule, late: timedelta) -> Schedule:
    due = timezone.now() - late
    Schedule.objects.filter(pk=schedule.pk).update(starts_at=due, next_due=due, next_at=due)
    schedule.refresh_from_db()
    return schedule


def notes(schedule: Schedule) -> list[tuple[bool, str]]:
    runs = ScheduleRun.objects.filter(schedule=schedule).order_by("due")
    return [(run.job_id is not None, run.note) for run in runs]


class TestADueTime:
    def test_becomes_one_job_and_the_schedule_goes_on(self, thing):
        schedule = hourly(thing)
        due = schedule.next_due
        assert run_due() == 1
        assert run_due() == 0
        job = Job.objects.get()
        assert (job.source_id, job.args, job.tenant_id) == (str(thing.pk), {"value": 1}, thing.tenant_id)
        schedule.refresh_from_db()
        assert (schedule.next_due, schedule.last_job_id) == (due + HOUR, job.pk)
        run = ScheduleRun.objects.get()
        assert (run.due, run.job_id) == (due, job.pk)

    def test_is_taken_once_for_all_time_even_if_the_schedule_is_set_back(self, thing):
        schedule = hourly(thing)
        run_due()
        Schedule.objects.update(next_due=schedule.next_due, next_at=schedule.next_at)
        run_due()
        assert Job.objects.count() == 1

    def test_is_no_answer_to_an_identical_job_that_waits(self, thing):
        thing.async_.echo(1)
        hourly(thing)
        run_due()
        assert Job.objects.count() == 2

    def test_the_last_due_time_of_a_schedule_is_before_its_end(self, thing):
        schedule = hourly(thing, ends_at=timezone.now() + timedelta(minutes=90))
        run_due()
        schedule.refresh_from_db()
        assert schedule.next_due is not None
        call_at(timezone.now() + 2 * HOUR, run_due)
        schedule.refresh_from_db()
        assert (schedule.next_due, Job.objects.count()) == (None, 2)

    def test_runs_later_by_the_schedules_part_of_the_jitter(self, thing):
        schedule = hourly(thing, jitter=600.0)
        Schedule.objects.update(next_at=F("next_due") + timedelta(minutes=9, seconds=59))
        assert run_due() == 0
        assert call_at(timezone.now() + timedelta(minutes=10), run_due) == 1
        assert ScheduleRun.objects.get().due == schedule.next_due


class TestMissedDueTimes:
    LATE = timedelta(hours=5, minutes=1)

    @pytest.mark.parametrize(("catch_up", "jobs"), [("none", 0), ("one", 1), ("all", 6)])
    def test_is_made_good_as_the_schedule_says(self, catch_up, jobs, thing):
        schedule = hourly(thing, self.LATE, catch_up=catch_up)
        begin = schedule.next_due
        run_due()
        assert Job.objects.count() == jobs
        schedule.refresh_from_db()
        assert schedule.next_due == begin + 6 * HOUR, "it goes on in its rhythm"

    def test_is_bounded(self, thing):
        hourly(thing, timedelta(days=30), catch_up="all")
        run_due()
        assert Job.objects.count() == 100

    @pytest.mark.parametrize(("room", "schedules"), [(4, 1), (4, 2), (0, 1), (7, 2)])
    def test_is_made_good_as_far_as_the_backlog_has_room_the_latest_first_and_the_others_are_noted(
        self, room, schedules, thing
    ):
        """Each was due six times; one more of the tenant's jobs waits."""
        make_job(thing.tenant)
        TenantQueue.objects.filter(tenant=thing.tenant).update(max_waiting=room + 1)
        made = [hourly(thing, self.LATE, catch_up="all", name=str(n)) for n in range(schedules)]
        run_due()
        assert Job.objects.count() == 1 + room
        for schedule in made:
            runs = list(schedule.runs.order_by("due"))
            assert len(runs) == 6
            fitting = [run.job_id for run in runs if run.job_id is not None]
            assert fitting == sorted(fitting), "in the order of their times"
            assert [run.job_id for run in runs[6 - len(fitting) :]] == fitting, "the latest"
            told = {run.note for run in runs[: 6 - len(fitting)]}
            assert told <= {f"The backlog was full: at most {count_of_jobs(room + 1)} may wait."}
            schedule.refresh_from_db()
            assert schedule.last_job_id == (fitting[-1] if fitting else None)
            assert not schedule.paused

    def test_is_not_what_is_a_little_late(self, thing):
        hourly(thing, timedelta(seconds=30), catch_up="none")
        run_due()
        assert Job.objects.count() == 1


class TestARunThatIsNotOver:
    def test_is_followed(self, thing):
        self.twice(hourly(thing))
        assert Job.objects.count() == 2

    def test_has_the_next_one_skipped(self, thing):
        schedule = hourly(thing, overlap="skip")
        self.twice(schedule)
        assert Job.objects.count() == 1
        assert notes(schedule) == [(True, ""), (False, "The previous run is not over.")]
        Job.objects.all().delete()
        call_at(timezone.now() + 2 * HOUR, run_due)
        assert Job.objects.count() == 1, "it is over"

    def test_is_cancelled_for_the_next_one_though_the_clock_is_cut_off_meanwhile(self, thing, monkeypatch):
        schedule = hourly(thing, overlap="cancel")
        with monkeypatch.context() as patched, pytest.raises(InterfaceError):
            patched.setattr(run, "cancel", Mock(side_effect=InterfaceError))
            self.twice(schedule)
        call_at(schedule.next_due + HOUR, run_due)
        first, second = Job.objects.order_by("pk")
        assert (first.status, second.status) == (Status.CANCELLED, Status.CREATED)

    def twice(self, schedule: Schedule) -> None:
        run_due()
        call_at(schedule.next_due + HOUR, run_due)


class TestACallThatIsNotPossible:
    @pytest.mark.parametrize(
        ("gone", "why"),
        [
            ({"source_method": "vanished"}, "source_method: 'vanished' is not a job"),
            ({"source_type": "sample.gone"}, "source_type: 'sample.gone' is unknown"),
            ({"source_id": "999999"}, "source_id: there is no sample.thing '999999'"),
            ({"args": {"bogus": 1}}, "args: do not fit echo"),
            ({"queue": "closed down"}, "queue: 'closed down' is unknown"),
            ({"cron": "never", "every": None}, "cron: 'never' is not a cron expression"),
        ],
    )
    def test_pauses_its_schedule_with_the_reason_and_tells_the_operator(self, gone, why, thing, caplog, settings):
        settings.JOBS_UNKNOWN_PATIENCE = 0
        schedule = hourly(thing)
        other = hourly(thing, name="other")
        Schedule.objects.filter(pk=schedule.pk).update(**gone)
        run_due()
        schedule.refresh_from_db()
        assert (schedule.paused, schedule.next_at) == (True, None)
        assert schedule.paused_because.startswith(why)
        assert "schedule paused" in caplog.text
        assert [job for job, _ in notes(other)] == [True], "others go on"

    def test_since_this_worker_does_not_know_the_job_yet_waits_for_one_that_does_and_then_runs_on_time(
        self, thing, settings, caplog
    ):
        schedule = hourly(thing)
        Schedule.objects.update(source_method="of_a_new_release")
        call_at(schedule.next_due + timedelta(seconds=settings.JOBS_UNKNOWN_PATIENCE - 20), run_due)
        held_up = Schedule.objects.get()
        assert (held_up.paused, held_up.next_due, notes(schedule)) == (False, schedule.next_due, [])
        assert "schedule held up" in caplog.text
        Schedule.objects.update(source_method="echo")
        assert call_at(held_up.next_at, run_due) == 1
        assert notes(schedule) == [(True, "")]

    def test_since_nobody_came_to_know_the_job_pauses_it(self, thing, settings):
        schedule = hourly(thing)
        Schedule.objects.update(source_method="vanished")
        call_at(schedule.next_due + timedelta(seconds=settings.JOBS_UNKNOWN_PATIENCE), run_due)
        assert Schedule.objects.get().paused

    def test_a_source_of_another_tenant_is_as_a_missing_one(self, thing):
        schedule = hourly(thing)
        Schedule.objects.update(source_id=str(ThingFactory().pk))
        run_due()
        schedule.refresh_from_db()
        assert schedule.paused_because.startswith("source_id: there is no sample.thing")
        assert not Job.objects.exists()

    def test_because_the_backlog_is_full_is_noted_and_the_schedule_goes_on(self, thing):
        schedule = hourly(thing)
        TenantQueue.objects.filter(tenant=thing.tenant).update(max_waiting=0)
        run_due()
        schedule.refresh_from_db()
        assert not schedule.paused
        [(submitted, note)] = notes(schedule)
        assert not submitted
        assert "0" in note


class TestAPerson:
    def test_pauses_and_resumes_and_nothing_is_made_good(self, thing):
        schedule = change.pause(hourly(thing, 3 * HOUR))
        assert run_due() == 0
        schedule = change.resume(schedule)
        assert schedule.next_due > timezone.now()
        assert run_due() == 0

    def test_runs_one_now_beside_the_plan(self, thing):
        schedule = change.pause(hourly(thing))
        job_id = change.run_now(schedule)
        assert Job.objects.get().pk == job_id
        assert notes(schedule) == [(True, "Run by hand.")]

    def test_changes_when_it_is_due(self, thing):
        schedule = change.change(hourly(thing), every=None, cron="0 6 * * *", tz="Europe/Berlin")
        assert schedule.next_due.astimezone(UTC).hour in (4, 5)

    def test_takes_no_due_time_away_by_another_name_or_by_resuming_what_is_not_paused(self, thing):
        schedule = change.resume(change.change(hourly(thing, 3 * HOUR), name="renamed", jitter=0.001))
        assert run_due() == 1
        assert notes(schedule) == [(True, "")]

    def test_says_when_it_starts(self, thing):
        start = timezone.now() + 30 * HOUR
        schedule = change.add(
            thing.tenant,
            name="later",
            every=60.0,
            starts_at=start,
            source_type="sample.thing",
            source_id=str(thing.pk),
            source_method="echo",
        )
        assert schedule.next_due == start

    def test_changes_the_call_of_a_paused_one_to_none_that_is_not_possible(self, thing):
        schedule = change.pause(hourly(thing))
        with pytest.raises(InvalidRequest, match="source_method: 'bogus' is not a job"):
            change.change(schedule, source_method="bogus")
        Schedule.objects.update(source_method="gone")
        assert change.change(schedule, name="other").name == "other", "the rest of it is changed all the same"

    @pytest.mark.parametrize(
        ("fields", "field"),
        [
            ({"every": 0.5}, "every"),
            ({"args": [1]}, "args"),
            ({"queue": "nowhere"}, "queue"),
            ({"name": "\ud800"}, "name"),
            ({"source_method": "everything"}, "source_id"),
            ({"starts_at": datetime(9999, 12, 31, tzinfo=UTC)}, "starts_at"),
            ({"starts_at": datetime(1, 1, 1, tzinfo=UTC)}, "starts_at"),
            ({"every": None, "cron": "x"}, "cron"),
            ({"every": None, "cron": "@daily", "tz": "Nowhere"}, "tz"),
            ({"source_method": "bogus"}, "source_method"),
            ({"jitter": -1.0}, "jitter"),
            ({"ends_at": datetime(2020, 1, 1, tzinfo=UTC)}, "ends_at"),
            ({"ends_at": datetime(2040, 1, 1, tzinfo=UTC).replace(tzinfo=None)}, "ends_at"),
            ({"catch_up": "some"}, "catch_up"),
            ({"overlap": "stack"}, "overlap"),
            ({"name": ""}, "name"),
            ({"name": "x" * 301}, "name"),
            ({"priority": 11}, "priority"),
        ],
    )
    def test_is_refused_by_the_name_of_the_field_and_nothing_is_stored(self, fields, field, thing):
        with pytest.raises(InvalidRequest) as refused:
            hourly(thing, **fields)
        assert refused.value.field == field
        assert not Schedule.objects.exists()

    def test_is_refused_a_second_one_of_the_name_but_a_stranger_is_not(self, thing):
        hourly(thing)
        with pytest.raises(InvalidRequest, match="name: there is a schedule 'hourly' already"):
            hourly(thing)
        hourly(ThingFactory())

    def test_is_refused_one_of_a_name_that_somebody_else_takes_meanwhile(self, thing, monkeypatch):
        hourly(thing)
        monkeypatch.setattr("jobs.engine.schedules.change.check", lambda *_, **__: None)
        with pytest.raises(InvalidRequest, match="name: there is a schedule 'hourly' already"):
            hourly(thing)
        assert Schedule.objects.count() == 1

    def test_is_refused_more_than_the_tenant_may_have(self, thing, settings):
        settings.JOBS_MAX_SCHEDULES = 1
        call = {"source_type": "reports.datareport", "source_method": "nothing", "every": 60.0}
        Schedule.objects.create(tenant=thing.tenant, name="first", **call)
        with pytest.raises(InvalidRequest, match="name: the tenant has 1 schedules"):
            change.add(thing.tenant, by_tenant=True, name="second", **call)


@pytest.mark.django_db(transaction=True)
def test_a_tenant_has_no_more_than_it_may_also_if_two_come_at_once_and_a_stranger_its_own(
    report, foreign_report, settings, elsewhere, blocked
):
    settings.JOBS_MAX_SCHEDULES = 1

    def add(its, name):
        call = {"source_type": "reports.datareport", "source_id": str(its.pk), "source_method": "execute"}
        change.add(its.tenant, by_tenant=True, name=name, every=60.0, **call)

    with transaction.atomic():
        add(report, "one")
        another = elsewhere(add, report, "other")
        while not blocked():
            assert not another.done()
        add(foreign_report, "one")
    with pytest.raises(InvalidRequest, match="name: the tenant has 1 schedules"):
        another.result()
    assert Schedule.objects.filter(tenant=report.tenant).count() == 1


@pytest.mark.django_db(transaction=True)
class TestTwoLeaders:
    def test_at_once_submit_each_due_time_once(self, elsewhere):
        things = [ThingFactory() for _ in range(30)]
        for thing in things:
            hourly(thing)
        for running in [elsewhere(run_due) for _ in range(4)]:
            running.result()
        assert Job.objects.count() == len(things)
        assert Schedule.objects.filter(next_due__gt=timezone.now()).count() == len(things)

    def test_one_schedule_that_somebody_has_locked_holds_up_no_other(self, thing, onlooker):
        locked = hourly(thing)
        hourly(ThingFactory())
        with onlooker.transaction():
            onlooker.execute("SELECT FROM schedules WHERE id = %s FOR UPDATE", [locked.pk])
            assert run_due() == 1
        assert run_due() == 1
        assert Job.objects.count() == 2

    def test_a_run_of_a_schedule_that_is_being_deleted_ends_first(self, thing, race):
        schedule = hourly(thing)
        race.begin("SELECT FROM schedules WHERE id = %s FOR NO KEY UPDATE", schedule.pk)
        race.they.execute("INSERT INTO schedule_runs (schedule_id, due, note) VALUES (%s, now(), '')", [schedule.pk])
        race.run(change.delete, schedule).result()
        assert not Schedule.objects.exists()
        assert not ScheduleRun.objects.exists()

    @pytest.mark.parametrize("locked", ["sample_thing", "jobs"])
    def test_a_schedule_with_a_locked_table_comes_later_and_the_others_go_on(
        self, locked, thing, onlooker, monkeypatch
    ):
        """A table: that is asked for once, however many are due. Those that do not need it go on."""
        things = [thing, *(ThingFactory() for _ in range(20))]
        held_up = [hourly(one) for one in things]
        report = {"source_type": "reports.datareport", "source_id": None, "source_method": "refresh_all", "args": {}}
        other = hourly(ThingFactory(), **report)
        sql("SET lock_timeout = '300ms'")
        with onlooker.transaction():
            onlooker.execute(f"LOCK TABLE {locked} IN {'ACCESS EXCLUSIVE' if locked != 'jobs' else 'SHARE'} MODE")
            begin = monotonic()
            run_due()
            assert monotonic() - begin < 3, "each alone would take six seconds"
        assert Job.objects.filter(tenant=other.tenant_id).count() == (locked != "jobs")
        assert not Job.objects.exclude(tenant=other.tenant_id).exists()
        call_at(timezone.now() + 2 * run.AGAIN, run_due)
        assert Job.objects.count() == len(held_up) + 1
        assert ScheduleRun.objects.count() == len(held_up) + 1

    def test_a_tenant_whose_row_is_locked_has_its_run_too(self, thing, onlooker):
        hourly(thing)
        with onlooker.transaction():
            onlooker.execute("SELECT FROM tenants_tenant WHERE id = %s FOR UPDATE", [thing.tenant_id])
            run_due()
        assert Job.objects.count() == 1

    def test_a_previous_run_that_somebody_has_locked_is_left_and_those_of_others_are_cancelled(
        self, thing, onlooker, caplog
    ):
        other = ThingFactory()
        locked, free = [hourly(one, overlap="cancel") for one in (thing, other)]
        run_due()
        for schedule in (locked, free):
            schedule.refresh_from_db()
        sql("SET lock_timeout = '100ms'")
        with onlooker.transaction():
            onlooker.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [locked.last_job_id])
            call_at(timezone.now() + 2 * HOUR, run_due)
        assert Job.objects.get(pk=locked.last_job_id).status == Status.CREATED
        assert Job.objects.get(pk=free.last_job_id).status == Status.CANCELLED
        assert "previous run not cancelled" in caplog.text


def test_a_pass_reads_what_is_due_and_not_what_there_is(thing):
    tenant = TenantFactory()
    far = timezone.now() + timedelta(days=1)
    call = {"source_type": "sample.thing", "source_method": "echo", "every": 60.0, "tenant": tenant}
    [pattern] = Schedule.objects.bulk_create([Schedule(name="0", next_due=far, next_at=far, **call)])
    columns = [field.column for field in Schedule._meta.local_fields if field.column not in {"id", "name"}]
    sql(
        f"INSERT INTO schedules (name, {', '.join(columns)})"
        f" SELECT n::text, {', '.join(columns)} FROM schedules, generate_series(1, 20000) n WHERE id = %s",
        [pattern.pk],
    )
    hourly(thing)
    question = "SELECT sum(pg_stat_get_xact_blocks_fetched(oid))::int FROM pg_class WHERE relname LIKE 'schedules%'"
    with transaction.atomic(), connection.cursor() as cursor:
        store.due_schedules(100)  # marks what other tests have left in the index
        cursor.execute(question)
        before = cursor.fetchone()[0]
        assert len(store.due_schedules(100)) == 1
        cursor.execute("SET LOCAL intervalstyle = 'iso_8601'")
        assert store.next_run() < 0
        cursor.execute(question)
        assert cursor.fetchone()[0] - before < 40
