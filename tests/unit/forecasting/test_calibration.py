"""What is said follows how often it held; and what is not said has a reason."""

from datetime import UTC, datetime, timedelta
from math import exp, inf, log

import pytest

from jobs.insight.forecasting.calibration import HANDOVER, LEARNED, STEP, Factor, class_of, outcome
from jobs.insight.forecasting.statements import FARTHEST, StartPrediction, predict
from jobs.reading.starts import Reason

NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def after(outcomes, q=0.9, factor=None):
    factor = factor or Factor()
    for held in outcomes:
        factor = factor.after(held=held, q=q)
    return factor


def test_a_miss_stretches_what_is_said_and_hits_bring_it_back():
    old = Factor(outcomes=1000)
    assert after([False], factor=old).log == pytest.approx(0.9 * STEP)
    assert after([True], factor=old).log == pytest.approx(-0.1 * STEP)
    assert after([True] * 9 + [False], factor=old).log == pytest.approx(0.0, abs=1e-12)  # nine of ten: as said
    assert after([True, False], q=0.5, factor=old).log == pytest.approx(0.0, abs=1e-12)


def test_the_first_outcomes_teach_four_times_as_much():
    assert after([False]).log == pytest.approx(4 * 0.9 * STEP)
    steps = [after([False], factor=Factor(outcomes=n)).log / (0.9 * STEP) for n in range(60)]
    assert steps == sorted(steps, reverse=True)
    assert steps[44] > 1.0
    assert steps[45] == pytest.approx(1.0)


def test_the_said_time_is_the_raw_time_with_the_hand_over_times_the_factor():
    assert Factor().calibrate(0.0) == HANDOVER
    assert Factor(log=log(2)).calibrate(10.0) == pytest.approx(2 * (10.0 + HANDOVER))


def test_a_class_remembers_how_its_last_statements_held():
    assert after([True] * 50).held == 1.0
    assert after([True] * 50 + [False] * 50).held == pytest.approx((1 - 1 / 50) ** 50)
    assert after([True, False]).held == 0.5


def test_the_factor_holds_as_often_as_said_for_any_times():
    """Times that drift to five times what the raw quantile says, and back."""
    factor, held = Factor(), []
    for n in range(4000):
        took = 10.0 * exp(1.6 * min(n / 2000, 2 - n / 2000)) * (0.5 + (n * 7919 % 1000) / 1000)
        held.append(took <= factor.calibrate(10.0))
        factor = factor.after(held=held[-1], q=0.9)
    assert sum(held) / len(held) == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (0, "slots_full 3s"),
        (3, "slots_full 3s"),
        (3.1, "slots_full 30s"),
        (300, "slots_full 5m"),
        (3601, "slots_full more"),
    ],
)
def test_a_class_is_what_holds_the_job_and_how_long_about(raw, name):
    assert class_of("slots_full", raw) == name


@pytest.mark.parametrize(
    ("started", "now", "known"),
    [
        (None, 5, None),
        (None, 10, None),  # it may still start in this moment
        (None, 10.1, False),  # a miss at once, whenever it starts
        (3, 5, True),
        (10, 500, True),
        (11, 500, False),
    ],
)
def test_an_outcome_is_known_at_the_start_or_at_the_said_moment(started, now, known):
    started_at = None if started is None else NOON + started * SECOND
    assert outcome(NOON + 10 * SECOND, started_at, NOON + now * SECOND) is known


def factors(log50=0.0, log90=0.0, *, outcomes=LEARNED, held=0.9, of="pool_full 30s"):
    return {(of, 0.5): Factor(log50, outcomes, 0.5), (of, 0.9): Factor(log90, outcomes, held)}


def test_a_class_that_holds_says_both():
    prediction = predict("pool_full", 5.0, 10.0, 20.0, factors(log(2), log(1.5)))
    assert prediction == StartPrediction(pytest.approx(20.4), pytest.approx(30.3), not_before=5.0)


def test_p90_is_never_before_p50():
    prediction = predict("pool_full", 5.0, 10.0, 12.0, factors(log(2)))
    assert prediction.p90 == prediction.p50


def test_a_class_that_learns_says_p50_alone():
    prediction = predict("pool_full", 5.0, 10.0, 20.0, factors(outcomes=LEARNED - 1))
    assert prediction == StartPrediction(p50=pytest.approx(10.2), not_before=5.0, reason=Reason.LEARNING)
    assert predict("pool_full", 5.0, 10.0, 20.0, {}).reason == Reason.LEARNING


def test_a_class_that_does_not_hold_says_not_before():
    assert predict("pool_full", 5.0, 10.0, 20.0, factors(held=0.79)) == StartPrediction(
        not_before=5.0, reason=Reason.UNSURE
    )
    # in falling load all is earlier, and so is this
    shrunk = predict("pool_full", 5.0, 10.0, 20.0, factors(log(0.5), held=0.5))
    assert shrunk.not_before == pytest.approx(2.5)


def test_a_job_that_more_urgent_ones_may_keep_waiting_for_ever_says_not_before():
    assert predict("pool_full", 5.0, 10.0, inf, factors()) == StartPrediction(
        not_before=5.0, reason=Reason.URGENT_AHEAD
    )
    assert predict("pool_full", inf, inf, inf, factors()) == StartPrediction(reason=Reason.URGENT_AHEAD)


def test_nothing_is_said_of_what_lies_beyond_six_hours():
    prediction = predict("pool_full", 100.0, 3000.0, FARTHEST, factors(of="pool_full 1h"))
    assert prediction == StartPrediction(not_before=100.0, reason=Reason.FAR)


def test_while_predictions_do_not_hold_in_general_p50_alone_is_said():
    prediction = predict("pool_full", 5.0, 10.0, 20.0, factors(), off=True)
    assert prediction == StartPrediction(p50=pytest.approx(10.2), not_before=5.0, reason=Reason.OFF)
