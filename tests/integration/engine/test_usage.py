"""Days are closed: tenants are billed for what the log of attempts has, whatever happens to recorder and clock."""

import random
from datetime import date, timedelta

import pytest
from django.db import DatabaseError, transaction
from django.db.models import Sum

from jobs.models import Attempt, ClosedDay, SlotPeak, TenantHour, UsageDay
from jobs.reading import usage
from jobs.recording import close, record, statements
from tests.clock import call_at
from tests.integration.engine.test_record import HOUR, MINUTE, NOON, attempt, rows
from tests.sql import sql

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
TODAY, TOMORROW = NOON.date(), (NOON + DAY).date()


def turn() -> None:
    """What the recorder does, in this order."""
    record.record_hours()
    close.close_days()


def logged(**of) -> tuple[int, int]:
    """The attempts in the log, and their microseconds; none is negative."""
    found = [one.ended_at - one.start_time for one in Attempt.objects.filter(**of)]
    return len(found), sum(max(ran, timedelta(0)) // timedelta(microseconds=1) for ran in found)


def billed(**of) -> tuple[int, int]:
    found = UsageDay.objects.filter(**of).aggregate(n=Sum("attempts"), ran=Sum("microseconds"))
    return found["n"] or 0, found["ran"] or 0


def shown(starts, ends, now, tenant_id=None) -> tuple[int, int]:
    found = usage.read(usage.UsageRequest(starts, ends, ("tenant",)), tenant_id, now)
    return found.attempts, sum(line.microseconds for line in found.lines)


class TestADay:
    def test_is_closed_when_its_last_hour_has_been_counted_for_five_minutes(self):
        attempt(ran=1.25)
        call_at(NOON + 12 * HOUR + 4 * MINUTE, turn)
        assert not ClosedDay.objects.exists()
        now = NOON + 12 * HOUR + 5 * MINUTE
        call_at(now, turn)
        assert list(ClosedDay.objects.values_list("day", "closed_at")) == [(TODAY, now)]
        assert billed() == (1, 1_250_000)

    def test_is_billed_by_tenant_queue_type_outcome(self):
        attempt(tenant_id=1), attempt(tenant_id=1, queue_id=8), attempt(tenant_id=2, outcome="crash")
        attempt(tenant_id=1, source_method="other", ran=0.000_001)
        call_at(NOON + DAY, turn)
        parts = ("tenant_id", "queue_id", "source_method", "outcome", "attempts", "microseconds", "ended_on")
        assert sorted(UsageDay.objects.values_list(*parts)) == [
            (1, 7, "execute", "success", 1, 1_000_000, TODAY),
            (1, 7, "other", "success", 1, 1, TODAY),
            (1, 8, "execute", "success", 1, 1_000_000, TODAY),
            (2, 7, "execute", "crash", 1, 1_000_000, TODAY),
        ]

    def test_is_closed_though_nothing_ended_on_it(self):
        attempt()
        call_at(NOON, turn)
        call_at(NOON + 4 * DAY, turn)
        assert ClosedDay.objects.count() == 4

    def test_gets_nothing_more_and_what_is_found_late_goes_to_the_first_open_day(self):
        attempt(ran=2.0)
        call_at(NOON + DAY, turn)
        first = rows(UsageDay)
        attempt(NOON + HOUR, ran=3.5)  # its transaction lasted into the next day
        for days in range(2, 9):
            call_at(NOON + days * DAY, turn)
        late = UsageDay.objects.exclude(day=TODAY).get()
        assert rows(UsageDay)[0] == first[0]
        assert (late.ended_on, late.attempts, late.microseconds) == (TODAY, 1, 3_500_000)
        assert late.day > TODAY
        assert billed() == logged()


class TestFinal:
    @pytest.fixture(autouse=True)
    def _closed(self):
        attempt()
        statements.record_peaks(TODAY, {1: 3})
        call_at(NOON + DAY, turn)

    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE usage_days SET attempts = 2",
            "UPDATE usage_days SET day = day + 1",
            "DELETE FROM usage_days",
            "INSERT INTO usage_days SELECT 99, day, queue_id, source_type, source_method, outcome, ended_on, 1, 1"
            " FROM usage_days",
            "INSERT INTO usage_days SELECT tenant_id, day - 400, queue_id, source_type, source_method, outcome,"
            " ended_on - 400, 1, 1 FROM usage_days",
            "UPDATE slot_peaks SET slots = 4",
            "DELETE FROM slot_peaks",
        ],
    )
    def test_the_database_refuses_to_change_it(self, statement):
        with pytest.raises(DatabaseError, match="is final"), transaction.atomic():
            sql(statement)
        assert billed() == (1, 1_000_000)

    def test_a_peak_that_is_seen_later_goes_to_the_first_open_day(self):
        statements.record_peaks(TODAY, {1: 9, 2: 1})
        found = SlotPeak.objects.order_by("pk").values_list("tenant_id", "day", "slots")
        assert list(found) == [(1, TODAY, 3), (1, TOMORROW, 9), (2, TOMORROW, 1)]

    def test_a_lower_peak_changes_none(self):
        for slots in (5, 2):
            statements.record_peaks(TOMORROW, {1: slots})
        assert SlotPeak.objects.get(day=TOMORROW).slots == 5

    def test_a_closed_day_is_deleted_when_it_is_old(self, settings):
        settings.JOBS_USAGE_KEEP = 30
        call_at(NOON + 30 * DAY, close.forget_days)
        assert billed() == (1, 1_000_000)
        call_at(NOON + 31 * DAY, close.forget_days)
        assert billed() == (0, 0)
        assert not SlotPeak.objects.exists()


def test_usage_of_a_period_is_that_of_its_days_and_says_when_it_is_final():
    attempt(ran=1.0), attempt(NOON + DAY, ran=10.0)
    now = NOON + DAY + MINUTE
    call_at(now, turn)
    period = usage.UsageRequest(TODAY, TOMORROW, ("day",))
    found = usage.read(period, None, now)
    assert (found.attempts, found.worker_seconds, found.final, found.final_at) == (1, 1.0, True, now)
    both = usage.read(usage.UsageRequest(TODAY, TOMORROW + DAY, ("day",)), None, now)
    assert (both.attempts, both.worker_seconds, both.final, both.final_at) == (2, 11.0, False, None)
    assert [(line.day, line.microseconds) for line in both.lines] == [(TODAY, 1_000_000), (TOMORROW, 10_000_000)]
    assert usage.read(usage.UsageRequest(date(2031, 3, 1), TODAY, ("day",)), None, now).final


def test_usage_of_a_tenant_has_only_its_own_attempts():
    attempt(tenant_id=1), attempt(tenant_id=2, ran=5.0)
    for now in (NOON + MINUTE, NOON + DAY):
        statements.record_peaks((now - MINUTE).date(), {1: 2, 2: 7})
        call_at(now, turn)
        found = usage.read(usage.UsageRequest(TODAY, TOMORROW, ("day",)), 1, now)
        assert [(line.attempts, line.microseconds, line.peak_slots) for line in found.lines] == [(1, 1_000_000, 2)]
        assert shown(TODAY, TOMORROW, now, 3) == (0, 0)


def test_a_crowd_of_fractions_adds_up_to_the_microsecond():
    for number in range(300):
        attempt(NOON + number * MINUTE, ran=0.1 + number * 1e-6 * 7, outcome=("success", "retry")[number % 2])
    now = NOON + DAY
    call_at(now, record.record_hours)
    assert shown(TODAY, TOMORROW, now) == logged()
    call_at(now, turn)
    assert shown(TODAY, TOMORROW, now) == billed() == logged()


@pytest.mark.parametrize("seed", range(3))
def test_any_history_bills_each_attempt_once_and_changes_no_final_day(seed, monkeypatch):
    """Attempts end at any time, some commit late, recorders come, die half way and stay away, the clock is set back."""
    chance = random.Random(seed)
    now, held, final = NOON - 6 * HOUR, [], {}
    monkeypatch.setattr(record, "log_kept", lambda: 2 * DAY)
    monkeypatch.setattr(close, "log_kept", lambda: 2 * DAY)
    call_at(now, turn)

    def check() -> None:
        for day in ClosedDay.objects.values_list("day", flat=True):
            amount = final.setdefault(day, billed(day=day))
            assert billed(day=day) == amount == shown(day, day + DAY, now)

    for _ in range(60):
        now += timedelta(seconds=chance.choice([20, 600, 3600, 9 * 3600]) * chance.random())
        if chance.random() < 0.12:
            now -= timedelta(seconds=chance.choice([30, 90, 5000, 30 * 3600]) * chance.random())
        one = {"ran": chance.expovariate(0.1), "tenant_id": chance.randrange(3), "queue_id": chance.randrange(2)}
        if chance.random() < 0.2:
            held.append((now, one))
        else:
            attempt(now, **one)
        while held and (held[0][0] < now - 20 * HOUR or chance.random() < 0.3):
            at, one = held.pop(0)
            attempt(at, **one)
        step = chance.choice([turn, turn, record.record_hours, close.close_days, lambda: None, died])
        call_at(now, step)
        check()
    for at, one in held:
        attempt(at, **one)
    for _ in range(6):
        now += DAY
        call_at(now, turn)
    check()
    assert billed() == logged()
    for tenant in range(3):
        assert billed(tenant_id=tenant) == logged(tenant_id=tenant)


def died() -> None:
    """A recorder whose transaction is lost before it commits."""
    try:
        with transaction.atomic():
            turn()
            raise ConnectionError
    except ConnectionError:
        pass


def test_the_log_is_not_dropped_before_it_is_billed():
    assert record._billed("attempts", NOON) < NOON - 3000 * DAY
    attempt()
    call_at(NOON, turn)
    assert record._billed("tenant_hours", NOON) < NOON - 3000 * DAY
    call_at(NOON + DAY, turn)
    assert record._billed("attempts", NOON + DAY) <= NOON - 6 * DAY
    assert record._billed("tenant_hours", NOON + DAY) == NOON.replace(hour=0) + DAY


def test_an_outage_of_days_loses_no_hour():
    call_at(NOON, turn)
    attempt(NOON + HOUR), attempt(NOON + 30 * HOUR)
    call_at(NOON + 6 * DAY, turn)
    assert TenantHour.objects.count() == 2
    assert billed() == logged()


@pytest.mark.django_db(transaction=True)
def test_the_second_of_two_recorders_that_close_a_day_bills_nothing_twice(elsewhere, blocked):
    attempt()
    now = NOON + DAY
    call_at(now, record.record_hours)
    with transaction.atomic():
        call_at(now, close.close_days)
        second = elsewhere(call_at, now, close.close_days)
        while not blocked():
            assert not second.done()
    second.result()
    assert (billed(), ClosedDay.objects.count()) == (logged(), 1)


@pytest.mark.django_db(transaction=True)
def test_a_peak_that_was_seen_while_its_day_is_closed_goes_to_the_next_one_or_nowhere(elsewhere, blocked):
    attempt()
    now = NOON + DAY
    call_at(now, record.record_hours)
    with transaction.atomic():
        call_at(now, close.close_days)
        second = elsewhere(statements.record_peaks, TODAY, {1: 9})
        while not blocked():
            assert not second.done()
    with pytest.raises(DatabaseError, match="is final"):
        second.result()
    assert not SlotPeak.objects.filter(day=TODAY).exists()
