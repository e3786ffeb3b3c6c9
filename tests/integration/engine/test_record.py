"""The recorder counts the log of attempts; whatever happens to it, the counts become those of the log."""

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from django.db import transaction

from jobs.models import Attempt, JobMinute, Recorded, TenantHour, Total
from jobs.reading.statistics import BOUNDS, BUCKETS, percentile
from jobs.recording import record, statements
from jobs.store.rows import rows as statement
from tests.clock import call_at
from tests.sql import sql

pytestmark = pytest.mark.django_db

NOON = datetime(2031, 3, 5, 12, 0, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
numbers = count(1)


def attempt(ended_at=NOON, ran=1.0, waited: float | None = 2.0, own: float | None = 0.5, **fields) -> Attempt:
    started = ended_at - timedelta(seconds=ran)
    values = {"tenant_id": 1, "queue_id": 7, "outcome": "success", "source_method": "execute", "priority": 5}
    values["waited_since"] = None if waited is None else started - timedelta(seconds=waited)
    values["own_until"] = None if own is None else started - timedelta(seconds=(waited or 0.0) - own)
    values |= {"source_type": "reports.datareport", "attempt": 1, "job_id": next(numbers)}
    return Attempt.objects.create(ended_at=ended_at, start_time=started, **values | fields)


def at(seconds: float) -> None:
    """What the recorder does so long after noon."""
    now = NOON + timedelta(seconds=seconds)
    call_at(now, record.record_minutes)
    call_at(now, record.record_hours)


def rows(model) -> list[dict]:
    return list(model.objects.order_by("pk").values())


class TestMinutes:
    def test_a_minute_is_counted_by_queue_type_and_outcome(self):
        for outcome, queue, method in [
            ("success", 7, "a"),
            ("success", 7, "a"),
            ("error", 7, "a"),
            ("success", 8, "b"),
        ]:
            attempt(outcome=outcome, queue_id=queue, source_method=method)
        at(75)
        found = JobMinute.objects.order_by("queue_id", "outcome").values_list(
            "minute", "queue_id", "source_method", "outcome", "attempts"
        )
        assert list(found) == [(NOON, 7, "a", "error", 1), (NOON, 7, "a", "success", 2), (NOON, 8, "b", "success", 1)]

    def test_a_minute_has_the_times_and_their_histograms(self):
        for ran, waited, own in [(0.001, 0.0, None), (1.0, 2.0, 0.5), (100_000.0, None, None)]:
            attempt(ran=ran, waited=waited, own=own)
        at(75)
        (row,) = rows(JobMinute)
        assert (row["run_seconds"], row["wait_seconds"]) == (pytest.approx(100_001.001), pytest.approx(2.0))
        assert (len(row["run_buckets"]), len(row["wait_buckets"])) == (BUCKETS, BUCKETS)
        assert row["process_wait_seconds"] == pytest.approx(1.5)
        assert [sum(row[f"{time}_buckets"]) for time in ("run", "wait", "process_wait")] == [3, 2, 2]
        assert (row["run_buckets"][0], row["run_buckets"][-1], row["wait_buckets"][0]) == (1, 1, 1)
        assert percentile(row["run_buckets"], 0.5) == pytest.approx(1.0, rel=0.5)

    def test_a_clock_that_was_set_back_makes_no_negative_time(self):
        attempt(ran=-5.0, waited=-5.0)
        at(75)
        (row,) = rows(JobMinute)
        assert (row["run_seconds"], row["wait_seconds"], row["run_buckets"][0]) == (0, 0, 1)

    def test_a_minute_that_is_not_over_is_not_counted(self):
        attempt(NOON + timedelta(seconds=59))
        at(74)
        assert rows(JobMinute) == []
        at(75)
        assert len(rows(JobMinute)) == 1

    def test_an_attempt_belongs_to_the_minute_in_which_it_ended(self):
        for seconds in (-0.001, 0, 59.999, 60):
            attempt(NOON + timedelta(seconds=seconds))
        at(200)
        counts = JobMinute.objects.order_by("minute").values_list("minute", "attempts")
        assert list(counts) == [(NOON - MINUTE, 1), (NOON, 2), (NOON + MINUTE, 1)]

    def test_an_attempt_that_comes_late_is_found_by_the_second_look(self):
        attempt()
        at(75)
        attempt()
        at(359)
        assert JobMinute.objects.get().attempts == 1
        at(360)
        assert JobMinute.objects.get().attempts == Total.objects.get().attempts == 2

    def test_a_minute_counted_again_is_the_same_and_the_totals_do_not_grow(self):
        attempt(), attempt(ran=0.3), attempt(outcome="error")
        at(75)
        before = rows(JobMinute), rows(Total)
        for _ in range(2):
            statement("record_minutes", starts=NOON, ends=NOON + MINUTE, bounds=list(BOUNDS))
        at(600)
        assert (rows(JobMinute), rows(Total)) == before

    def test_a_wrong_minute_is_replaced(self):
        attempt()
        at(75)
        right = rows(JobMinute), rows(Total)
        JobMinute.objects.update(attempts=7, run_buckets=[7] + [0] * 40)
        Total.objects.update(attempts=7)
        statement("record_minutes", starts=NOON, ends=NOON + MINUTE, bounds=list(BOUNDS))
        assert rows(JobMinute) == right[0]
        assert Total.objects.get().attempts == 1


class TestTotals:
    def test_totals_are_the_sums_of_all_minutes(self):
        for minutes, ran in [(0, 0.1), (0, 5.0), (1, 0.1), (7, 60.0)]:
            attempt(NOON + minutes * MINUTE, ran=ran)
        at(75)
        at(900)
        (total,) = rows(Total)
        minutes = rows(JobMinute)
        assert (total["attempts"], total["run_seconds"]) == (4, pytest.approx(65.2))
        for name in ("run_buckets", "wait_buckets", "process_wait_buckets"):
            assert total[name] == [sum(counts) for counts in zip(*(row[name] for row in minutes), strict=True)]


class TestHours:
    def test_the_present_hour_is_counted_by_tenant_again_and_again(self):
        attempt(tenant_id=1), attempt(tenant_id=2, outcome="dead")
        at(60)
        attempt(NOON + MINUTE, tenant_id=1)
        at(120)
        found = TenantHour.objects.order_by("tenant_id").values_list("tenant_id", "hour", "outcome", "attempts")
        assert list(found) == [(1, NOON, "success", 2), (2, NOON, "dead", 1)]

    def test_an_hour_is_final_five_minutes_after_its_end(self):
        attempt()
        at(3600)
        attempt()
        at(3600 + 299)
        assert TenantHour.objects.get().attempts == 2
        assert Recorded.objects.get(task="hours").upto == NOON
        at(3600 + 300)
        assert Recorded.objects.get(task="hours").upto == NOON + HOUR
        attempt()
        at(7200)
        assert TenantHour.objects.get().attempts == 2

    def test_an_hour_counted_again_is_not_even_written(self):
        attempt()
        at(60)

        def version() -> tuple:
            return sql("SELECT ctid::text, xmin::text FROM tenant_hours")

        before = version()
        at(120)
        assert version() == before


class TestAClockThatIsSetBack:
    @pytest.mark.parametrize("minutes", [90, 60, 7, 1.5, 0.7])
    def test_repeats_a_time_whose_attempts_all_count(self, minutes):
        """An attempt every 20 s, or every 90 s where it is hours, and a look after each."""
        total = 0
        pause = timedelta(seconds=20 if minutes < 10 else 90)

        def until(start: timedelta, end: timedelta) -> int:
            ended = 0
            while start + ended * pause < end:
                moment = start + ended * pause
                attempt(NOON + moment)
                at(moment.total_seconds() + 1)
                ended += 1
            return ended

        first = 40 * MINUTE if minutes >= 10 else 10 * MINUTE
        total += until(timedelta(0), first)
        total += until(first - minutes * MINUTE, first + 5 * MINUTE)
        at((first + HOUR + 10 * MINUTE).total_seconds())
        assert Total.objects.get().attempts == total
        assert sum(row["attempts"] for row in rows(JobMinute)) == total
        assert sum(row["attempts"] for row in rows(TenantHour)) == total


class TestOutages:
    def test_the_recorder_goes_on_from_where_it_stopped(self):
        at(0)
        for hours in range(5):
            attempt(NOON + hours * HOUR)
        at(5 * 3600)
        assert sum(row["attempts"] for row in rows(JobMinute)) == Total.objects.get().attempts == 5
        assert [row["attempts"] for row in rows(TenantHour)] == [1] * 5

    def test_the_recorder_looks_back_a_day_for_minutes_and_forgets_no_hour(self):
        at(0)
        attempt()
        attempt(NOON + 30 * HOUR)
        at(50 * 3600)
        assert [row["minute"] for row in rows(JobMinute)] == [NOON + 30 * HOUR]
        assert [row["hour"] for row in rows(TenantHour)] == [NOON, NOON + 30 * HOUR]

    def test_a_recorder_that_stops_half_way_leaves_nothing_half_done(self, monkeypatch):
        attempt()
        monkeypatch.setattr(statements, "end_task", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            at(75)
        assert rows(JobMinute) == rows(Total) == []
        monkeypatch.undo()
        at(75)
        assert Total.objects.get().attempts == 1


@pytest.mark.django_db(transaction=True)
def test_the_second_of_two_recorders_waits_and_counts_nothing_twice(elsewhere, blocked):
    attempt()
    now = NOON + timedelta(seconds=75)
    with transaction.atomic():
        call_at(now, record.record_minutes)
        second = elsewhere(call_at, now, record.record_minutes)
        while not blocked():
            assert not second.done()
    second.result()
    assert (JobMinute.objects.get().attempts, Total.objects.get().attempts) == (1, 1)
