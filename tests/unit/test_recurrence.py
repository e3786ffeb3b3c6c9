"""When something that recurs is due: forwards and backwards alike, also where the clocks of a zone change."""

import re
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise, product, takewhile
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import given
from hypothesis import strategies as st

from jobs.authoring.cron_words import cron_in_words
from jobs.authoring.recurrence import InvalidRecurrence, Recurrence, offset

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC")
EXPRESSIONS = (
    *("30 2 * * *", "*/30 * * * *", "0 * * * *", "15 3 * * *", "0 2 * * 0", "*/7 1-3 * * *"),
    *("@daily", "0 6 * * 1-5"),
)
DAYS = ((3, 7), (3, 28), (4, 4), (10, 3), (10, 24), (10, 31))  # around which some zone changes
CHANGES = [datetime(2026, month, day, tzinfo=UTC) for month, day in DAYS]
MOMENTS = st.floats(0, 10 * 366 * 86400).map(
    lambda seconds: datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
)


def local(due: datetime, zone: str) -> str:
    return due.astimezone(ZoneInfo(zone)).strftime("%d %H:%M")


def due_of(recurrence: Recurrence, after: datetime, count: int) -> list[datetime]:
    return list(islice(recurrence.after(after), count))


class TestSummerTime:
    def test_a_time_that_does_not_exist_is_due_after_the_gap(self):
        berlin = Recurrence(cron="30 2 * * *", tz="Europe/Berlin")
        due = due_of(berlin, datetime(2026, 3, 28, 12, tzinfo=UTC), 2)
        assert [local(one, "Europe/Berlin") for one in due] == ["29 03:00", "30 02:30"]

    def test_a_time_that_exists_twice_is_due_once(self):
        berlin = Recurrence(cron="30 2 * * *", tz="Europe/Berlin")
        due = due_of(berlin, datetime(2026, 10, 24, 12, tzinfo=UTC), 2)
        assert due == [datetime(2026, 10, 25, 0, 30, tzinfo=UTC), datetime(2026, 10, 26, 1, 30, tzinfo=UTC)]

    def test_every_half_hour_goes_on_through_the_change(self):
        berlin = Recurrence(cron="*/30 * * * *", tz="Europe/Berlin")
        due = due_of(berlin, datetime(2026, 10, 25, 0, 20, tzinfo=UTC), 6)
        assert {later - earlier for earlier, later in pairwise(due)} == {timedelta(minutes=30)}

    @pytest.mark.parametrize("zone", ZONES)
    def test_backwards_it_was_due_when_it_is_forwards(self, zone):
        different = []
        for expression, change in product(EXPRESSIONS, CHANGES):
            recurrence = Recurrence(cron=expression, tz=zone)
            end = change + timedelta(days=3)
            forwards = list(takewhile(lambda due, end=end: due <= end, recurrence.after(change)))
            if recurrence.last(1000, change + timedelta(microseconds=1), end) != forwards:
                different.append((expression, str(change)))
        assert different == []


def changes_of(zone: str) -> list[datetime]:
    """The moments, to the minute, at which the clocks of a zone are set, forwards and backwards, in five years."""

    def changes(since: datetime, step: timedelta, count: int) -> list[datetime]:
        steps = [since + n * step for n in range(count + 1)]
        offsets = [at.astimezone(ZoneInfo(zone)).utcoffset() for at in steps]
        return [steps[n + 1] for n in range(count) if offsets[n] != offsets[n + 1]]

    day, half_hour = timedelta(days=1), timedelta(minutes=30)
    days = changes(datetime(2026, 1, 1, tzinfo=UTC), day, 5 * 365)  # first, or it takes half a second
    return [change for end in days for change in changes(end - day, half_hour, 48)]


CHANGED = [(zone, change) for zone in ZONES if zone != "UTC" for change in changes_of(zone)]
HOURS, MINUTES = st.integers(0, 23), st.integers(0, 59)


@given(st.sampled_from(CHANGED), HOURS, MINUTES)
def test_a_time_of_day_is_due_once_a_day_at_its_first_occurrence_or_right_after_the_gap(changed, hour, minute):
    zone, change = changed
    due = list(
        takewhile(
            lambda one: one < change + timedelta(days=3),
            Recurrence(cron=f"{minute} {hour} * * *", tz=zone).after(change - timedelta(days=3)),
        )
    )
    assert len(due) in (5, 6, 7)
    days = [one.astimezone(ZoneInfo(zone)).date() for one in due]
    assert days == [days[0] + timedelta(days=n) for n in range(len(days))]
    for one, day in zip(due, days, strict=True):
        wanted = datetime(day.year, day.month, day.day, hour, minute, tzinfo=ZoneInfo(zone))  # its first occurrence
        exists = wanted.astimezone(UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None) == wanted.replace(tzinfo=None)
        assert one == (wanted.astimezone(UTC) if exists else change)


@given(st.sampled_from(CHANGED), MINUTES)
def test_every_hour_is_due_whenever_the_clock_shows_its_minute(changed, minute):
    zone, change = changed
    begin, end = change - timedelta(hours=5), change + timedelta(hours=5)
    due = list(takewhile(lambda one: one < end, Recurrence(cron=f"{minute} * * * *", tz=zone).after(begin)))
    minutes = (begin + timedelta(minutes=n) for n in range(1, 600))
    shown = [at for at in minutes if at.astimezone(ZoneInfo(zone)).minute == minute]
    if zone != "Australia/Lord_Howe":
        assert due == shown
    else:  # there the change is by half an hour: beside it an hour can be half as long, or one and a half
        hour = timedelta(hours=1)
        assert set(due) <= set(shown)
        assert {later - earlier for earlier, later in pairwise(due)} <= {hour / 2, hour, 1.5 * hour}


@given(st.sampled_from(CHANGED), st.sampled_from([1, 2, 3, 5, 6, 10, 15, 30]))
def test_every_so_many_minutes_goes_on_through_every_change(changed, period):
    zone, change = changed
    begin = change - timedelta(hours=5)
    due = due_of(Recurrence(cron=f"*/{period} * * * *", tz=zone), begin, 600 // period)
    assert {later - earlier for earlier, later in pairwise(due)} == {timedelta(minutes=period)}


@given(st.floats(1, 1e6), MOMENTS, MOMENTS, st.sampled_from(ZONES))
def test_every_so_many_seconds_counts_from_its_anchor_wherever_one_looks(every, anchor, moment, zone):
    recurrence = Recurrence(every=every, anchor=anchor.astimezone(ZoneInfo(zone)))  # as a form has it
    period = timedelta(seconds=every)
    due = due_of(recurrence, moment, 3)
    assert moment < due[0] <= moment + period
    assert due[1] - due[0] == due[2] - due[1] == period
    assert (due[0] - anchor) % period == timedelta(0)
    assert recurrence.last(3, due[0], due[2]) == due


@given(MOMENTS, st.sampled_from(EXPRESSIONS), st.sampled_from(ZONES))
def test_the_last_due_time_is_the_one_before_the_next(moment, expression, zone):
    recurrence = Recurrence(cron=expression, tz=zone)
    first, second = due_of(recurrence, moment, 2)
    assert recurrence.last(1, moment, second - timedelta(microseconds=1)) == [first]


@pytest.mark.parametrize(
    ("rule", "field", "message"),
    [
        ({}, "every", "give either every or cron"),
        ({"every": 5, "cron": "@daily"}, "every", "give either every or cron"),
        ({"every": 0}, "every", "must be a number of seconds from 1 "),
        ({"every": float("nan")}, "every", "must be a number of seconds"),
        ({"every": True}, "every", "must be a number of seconds"),
        ({"cron": "61 * * * *"}, "cron", "'61 * * * *' is not a cron expression: bad minute"),
        ({"cron": "* * * *"}, "cron", "it takes five fields"),
        ({"cron": "* * * * * *"}, "cron", "it takes five fields"),
        ({"cron": "@sometimes"}, "cron", "@daily"),
        ({"cron": "0 0 31 2 *"}, "cron", "bad day-of-month"),
        ({"cron": "@daily", "tz": "Mars/Olympus"}, "tz", "'Mars/Olympus' is not a time zone"),
        ({"cron": "@daily", "tz": "../../etc/passwd"}, "tz", "is not a time zone"),
        ({"cron": "@daily", "tz": ""}, "tz", "is not a time zone"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_by_the_name_of_its_field(rule, field, message):
    with pytest.raises(InvalidRecurrence) as refused:
        Recurrence(**rule)
    assert refused.value.field == field
    assert message in refused.value.message


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"cron": "0 6 * * 1-5", "tz": "Europe/Berlin"}, "At 06:00 AM, Monday through Friday (Europe/Berlin)"),
        ({"cron": "@hourly"}, "Every hour (UTC)"),
        (
            {"cron": "*/15 9-17 * * mon,wed,fri"},
            "Every 15 minutes, between 09:00 AM and 05:59 PM, only on Monday, Wednesday and Friday (UTC)",
        ),
        (
            {"cron": "0,30 0,12 1,15 * *"},
            "At 12:00 AM, 12:30 AM, 12:00 PM and 12:30 PM, on days 1 and 15 of the month (UTC)",
        ),
        (
            {"cron": "1 * 1-7 1-6 *"},
            "At 1 minute past the hour, between day 1 and 7 of the month, January through June (UTC)",
        ),
        ({"cron": "@yearly"}, "At 12:00 AM, on day 1 of the month, only in January (UTC)"),
        ({"cron": "0 */2 * * 7"}, "Every 2 hours, only on Sunday (UTC)"),
        ({"cron": "*/7 * * * *"}, "*/7 * * * * (UTC)"),  # each hour begins anew
        ({"cron": "0 6 1 * 3"}, "0 6 1 * 3 (UTC)"),  # on either
        ({"every": 300}, "Every 5 minutes"),
        ({"every": 3600}, "Every hour"),
        ({"every": 86_400 + 61}, "Every 1 day 1 minute 1 second"),
        ({"every": 2.5}, "Every 2.5 seconds"),
    ],
)
def test_a_recurrence_is_told_in_words(rule, words):
    assert Recurrence(**rule).in_words() == words


FORMS = [  # of each field
    "* 0 1 00 30 5-10 */5 */7 */60 0,30 30,0 0,20,40",
    "* 0 12 23 */2 */5 9-17 6,18 1,2,3",
    "* 1 15 31 1,15 1-7 1-1 */2 L LW",
    "* 1 JAN 1-6 1,7 jan,jul 6-6 */3",
    "* 0 7 1 1-5 0-6 0-7 7-7 1-7 MON mon-fri 6,0 6,7 1#1 5L */2",
]


def test_rules_that_are_told_in_the_same_words_are_due_at_the_same_times():
    minutes, hours, days, months, weekdays = map(str.split, FORMS)
    rules = [f"{minute} {hour} * * *" for minute, hour in product(minutes, hours)]
    rules += [f"0 6 {day} * {weekday}" for day, weekday in product(days, weekdays)]
    rules += [f"0 6 1 {month} *" for month in months]
    meant = {}
    for rule in rules:
        due = CronSim(rule, datetime(2026, 1, 1, tzinfo=UTC))
        meaning = due.minutes, due.hours, due.days, due.months, {0 if day == 7 else day for day in due.weekdays}
        words = cron_in_words(rule)
        assert meant.setdefault(words, meaning) == meaning, words
        assert words == rule or not re.search(r"[*/#L]", words), words
    assert len(meant) < len(rules), "some are told in the same words"


def test_jitter_spreads_ten_thousand_schedules_evenly_over_the_window():
    offsets = [offset(number, 600.0).total_seconds() for number in range(10_000)]
    assert 0 <= min(offsets) <= max(offsets) < 600
    for begin in range(0, 600, 60):
        assert 950 <= sum(begin <= seconds < begin + 60 for seconds in offsets) <= 1050
