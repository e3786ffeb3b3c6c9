"""What is drawn: quantiles, run times, who comes."""

from dataclasses import dataclass
from itertools import islice
from math import exp, inf
from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.insight.forecasting.quantiles import quantile
from jobs.insight.forecasting.runs import SPREAD, TimedAttempt, collected, common_factor, draw, draw_longer, spread
from jobs.insight.forecasting.simulation import again


@pytest.mark.parametrize(
    ("draws", "q", "value"),
    [
        ([1, 2, 3, 4, 5, 6, 7, 8, 9], 0.5, 5),
        ([9, 8, 7, 6, 5, 4, 3, 2, 1], 0.9, 9),  # (9 + 1) * 0.9
        ([1, 2, 3, 4], 0.5, 2.5),
        ([1, 2, 3], 0.9, 3),  # beyond the last draw
        ([1, 2, 3], 0.1, 1),
        ([1, 2, inf], 0.5, 2),
        ([1, 2, inf, inf], 0.5, inf),  # between 2 and never
        ([1, inf, inf], 0.9, inf),
    ],
)
def test_a_quantile_leaves_room_for_one_more_draw(draws, q, value):
    assert quantile(draws, q) == value


def test_no_draws_have_no_quantile():
    with pytest.raises(ValueError, match="needs draws"):
        quantile([], 0.5)


@given(draws=st.lists(st.floats(0, 100), min_size=1, max_size=30), q=st.floats(0.01, 0.99))
def test_a_quantile_lies_among_the_draws(draws, q):
    assert min(draws) <= quantile(draws, q) <= max(draws)


def ended(seconds, tenant=1, job_type="a.b", minute=0):
    ends = 60.0 * minute
    known = {"queue_id": 1, "ready_at": None, "claimed_at": None, "process": None}
    return TimedAttempt(tenant_id=tenant, job_type=job_type, started_at=ends - seconds, ended_at=ends, **known)


def test_the_attempts_of_the_type_or_of_all_stand_in_for_those_that_lack():
    runs = collected(
        [ended(1.0)] * 30
        + [ended(2.0, tenant=2)] * 9
        + [ended(3.0, tenant=3, job_type="c.d")] * 9
        + [ended(9.0, 4, "e")]
    )
    assert set(runs.like(1, "a.b")) == {1.0}
    assert set(runs.like(2, "a.b")) == {1.0, 2.0}  # too few of its own
    assert set(runs.like(3, "c.d")) == {1.0, 2.0, 3.0, 9.0}  # of its type, too
    assert set(runs.like(9, "unknown")) == {1.0, 2.0, 3.0, 9.0}


def test_only_the_newest_attempts_tell():
    runs = collected([ended(1.0)] * 200 + [ended(50.0)] * 200)
    assert set(runs.like(1, "a.b")) == {1.0}


def test_a_running_job_runs_longer_than_it_has():
    random = Random(1)
    drawn = {draw_longer(random, [1.0, 2.0, 2.0, 5.0, 9.0], 2.0) for _ in range(200)}
    assert drawn == {5.0, 9.0}
    assert {draw(random, [1.0, 9.0]) for _ in range(50)} == {1.0, 9.0}


def test_a_long_run_lasts_up_to_as_long_again():
    random = Random(1)
    drawn = [draw_longer(random, [1.0, 2.0], 10.0) for _ in range(200)]
    assert min(drawn) >= 10.0
    assert 19.0 < max(drawn) <= 20.0


def test_the_common_factor_is_one_on_average_and_spreads_as_said():
    random = Random(1)
    drawn = sorted(common_factor(random, 0.2) for _ in range(2000))
    assert drawn[1000] == pytest.approx(1.0, abs=0.03)
    assert drawn[1680] == pytest.approx(exp(0.2), abs=0.05)  # one deviation


def test_the_spread_is_that_of_minutes_and_not_of_attempts():
    random = Random(1)
    slow = [0.6, 1.0, 1.6, 0.7, 1.3, 0.9, 1.1, 1.5, 0.8, 1.2]
    alike = [ended(random.expovariate(1), minute=minute) for minute in range(10) for _ in range(50)]
    swaying = [ended(slow[minute] * random.expovariate(1), minute=minute) for minute in range(10) for _ in range(50)]
    assert spread(alike) == 0.1  # chance explains what there is
    assert 0.2 < spread(swaying) < 0.45
    assert spread(alike[:60]) == SPREAD  # two minutes tell nothing


def test_the_order_of_tenants_within_a_minute_is_no_spread():
    """Each of two tenants runs as long as ever, the one ten times as long as the other, in turns."""
    random = Random(1)
    seconds = [1.0, 10.0]
    found = [
        ended(seconds[minute % 2] * random.expovariate(1), tenant=minute % 2, minute=minute)
        for minute in range(10)
        for _ in range(50)
    ]
    assert spread(found) == 0.1


@dataclass
class Came:
    at: float
    who: str


def test_past_arrivals_come_again_from_a_moment_on_in_circles():
    came = [Came(10.0, "a"), Came(11.0, "b"), Came(200.0, "c")]
    found = [(seconds, one.who) for seconds, one in islice(again(came, 300.0, 100.0), 7)]
    assert found == [
        (100.0, "c"),
        (210.0, "a"),
        (211.0, "b"),
        (400.0, "c"),
        (510.0, "a"),
        (511.0, "b"),
        (700.0, "c"),
    ]
    assert list(again([], 300.0, 0.0)) == []


def test_after_the_last_of_the_window_the_circle_begins_anew():
    assert next(again([Came(10.0, "a")], 300.0, 250.0))[0] == pytest.approx(60.0)


@given(begin=st.floats(0, 299), ats=st.lists(st.floats(0, 300), min_size=1, max_size=20).map(sorted))
def test_arrivals_are_in_order_and_as_many_as_they_were(begin, ats):
    found = [seconds for seconds, _ in islice(again([Came(at, "") for at in ats], 300.0, begin), 5 * len(ats))]
    assert found == sorted(found)
    assert found[0] >= 0
    assert fmean(found[-len(ats) :]) - fmean(found[: len(ats)]) == pytest.approx(1200.0)
