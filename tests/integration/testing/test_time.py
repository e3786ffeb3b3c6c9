"""The frozen time, and planned failures."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils import timezone

from jobs import cancel
from jobs.contrib.testing import drain, fail_next, freeze_time, submitted
from jobs.models import AnyJob, Job, Schedule
from jobs.reading.explain.explanation import explain
from tests.factories import TenantFactory, ThingFactory
from tests.sample.models import Run, Thing

pytestmark = pytest.mark.django_db

NEW_YEAR = datetime(2031, 1, 1, tzinfo=UTC)


@pytest.fixture
def thing() -> Thing:
    return ThingFactory()


class TestFrozen:
    def test_jobs_are_stored_and_run_at_that_moment(self, thing):
        with freeze_time(NEW_YEAR) as time:
            thing.async_.echo()
            time.move(60)
            drain()
        job = Job.objects.get()
        assert (job.created_at, job.start_time, job.end_time) == (NEW_YEAR, time(), time())
        assert time() == NEW_YEAR + timedelta(seconds=60)

    def test_a_delayed_job_runs_when_the_time_has_passed(self, thing):
        with freeze_time() as time:
            thing.async_(delay=60).echo()
            time.move(59.999)
            assert drain() == []
            time.move(0.001)
            assert len(drain()) == 1

    def test_a_retry_waits_for_its_backoff(self, thing):
        with freeze_time() as time:
            thing.async_.fail_first()
            assert [a.status for a in drain()] == ["scheduled"]
            assert drain() == []
            time.move(0.1)
            assert [a.status for a in drain()] == ["success"]

    def test_a_schedule_submits_at_its_times(self):
        tenant = TenantFactory()
        with freeze_time(NEW_YEAR) as time:
            Schedule.objects.create(
                tenant=tenant,
                name="daily",
                source_type="sample.thing",
                source_method="everything",
                cron="0 6 * * *",
                starts_at=time(),
                next_due=NEW_YEAR + timedelta(hours=6),
                next_at=NEW_YEAR + timedelta(hours=6),
            )
            drain(schedules=True)
            assert not submitted(Thing.async_.everything)
            time.move(hours=6)
            drain(schedules=True)
            time.move(days=1)
            drain(schedules=True)
        assert [job.created_at for job in submitted(Thing.async_.everything)] == [time() - timedelta(days=1), time()]

    def test_later_moves_a_frozen_time(self, thing):
        with freeze_time(NEW_YEAR) as time:
            thing.async_(delay=3600).echo()
            drain(later=True)
            assert time() == timezone.now() == NEW_YEAR + timedelta(hours=1)

    def test_afterwards_the_time_is_the_true_one(self, thing):
        with freeze_time(NEW_YEAR):
            pass
        thing.async_(delay=60).echo()
        drain(later=True)
        assert Job.objects.get().created_at < NEW_YEAR
        assert timezone.now() < NEW_YEAR

    def test_a_test_that_freezes_django_time_freezes_a_drain(self, thing, monkeypatch):
        thing.async_.echo()
        monkeypatch.setattr(timezone, "now", lambda: NEW_YEAR)
        drain()
        assert Job.objects.get().end_time == NEW_YEAR

    @pytest.mark.parametrize("frozen", [NEW_YEAR, datetime(2019, 1, 1, tzinfo=UTC)], ids=["to come", "past"])
    def test_a_test_that_freezes_django_time_freezes_every_statement(self, thing, monkeypatch, frozen):
        monkeypatch.setattr(timezone, "now", lambda: frozen)
        delayed = thing.async_(delay=3600).echo(1)
        thing.async_(expires=60).echo(2)
        dated = thing.async_(at=frozen + timedelta(hours=1)).echo(3)
        gone = thing.async_(delay=60).echo(4)
        cancel(gone, tenant_id=thing.tenant_id)
        assert explain(delayed, tenant_id=thing.tenant_id).now == frozen
        monkeypatch.setattr(timezone, "now", lambda: frozen + timedelta(minutes=2))
        assert drain() == []
        monkeypatch.setattr(timezone, "now", lambda: frozen + timedelta(hours=1))
        assert [made.job_id for made in drain()] == [delayed, dated]
        ends = dict(AnyJob.objects.values_list("args__value", "end_time"))
        assert ends == {n: frozen + timedelta(minutes=m) for n, m in ((1, 60), (2, 2), (3, 60), (4, 0))}

    def test_frozen_time_does_not_go_back(self):
        with freeze_time(NEW_YEAR) as time, pytest.raises(ValueError, match="time does not go back"):
            time.move(-1)

    @pytest.mark.parametrize("moment", [datetime(2031, 1, 1), date(2031, 1, 1), "2031-01-01"])  # noqa: DTZ001
    def test_a_moment_is_a_datetime_with_a_time_zone(self, moment):
        with pytest.raises(ValueError, match="is no datetime with a time zone"), freeze_time(moment):
            pass


class TestPlannedFailures:
    def test_the_next_attempt_fails_and_its_policy_decides(self, thing):
        thing.async_.fail_first(times=0)
        with fail_next(thing.async_.fail_first, ConnectionError("no route")):
            made = drain(later=True)
        assert [(a.status, type(a.error)) for a in made] == [("scheduled", ConnectionError), ("success", type(None))]
        assert Run.objects.count() == 1

    def test_as_often_as_it_says(self, thing):
        thing.async_(max_retries=5).fail_first(times=0)
        with fail_next(Thing.async_.fail_first, ConnectionError(), times=3):
            assert len(drain(later=True)) == 4

    def test_other_jobs_do_not_fail(self, thing):
        ThingFactory().async_.echo()
        thing.async_.echo()
        with fail_next(thing.async_.echo, ConnectionError()):
            assert sorted(a.status for a in drain(raising=False)) == ["error", "success"]

    def test_a_failure_that_nobody_met_is_an_error(self, thing):
        nobody = pytest.raises(AssertionError, match="should have failed 1 times; 0 attempts were made")
        with nobody, fail_next(thing.async_.echo, ConnectionError()):
            drain()
        thing.async_.echo()
        assert [a.status for a in drain()] == ["success"]
