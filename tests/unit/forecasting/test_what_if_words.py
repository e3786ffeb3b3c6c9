"""The words of a what-if: one rule says which differences are noticeable, and every sentence follows it."""

from jobs.insight.forecasting.replay.compare import Comparison, Error, LaneWaits, Waits
from jobs.insight.what_if_picture import picture
from jobs.insight.what_if_words import SAME, Names, difference, told

ADA, BOB, NONE = 1, 2, 9
NAMES = Names({ADA: "Ada & Co.", BOB: "Bob"}, {5: "reports"})
NEAR, FAR = Error(0.05, 0.1, 0.1), Error(0.5, 0.5, 0.5)


def lane(was: float, now: float | None, *, real: float | None = None, never: int = 0, tenant: int = ADA) -> LaneWaits:
    recorded, replayed, changed = (Waits(mean, mean, mean) for mean in (was if real is None else real, was, now))
    return LaneWaits(tenant, 5, 10, 1.0, recorded, replayed, changed, never)


def answer(*lines: LaneWaits, error: Error | None = NEAR) -> str:
    return told(Comparison(10, lines, error), NAMES)


def test_a_difference_is_noticeable_beyond_a_tenth_half_a_second_and_the_error_of_the_replay():
    for line, words in (
        (lane(16.0, 13.0), "19 % less"),
        (lane(10.0, 13.0), "30 % longer"),
        (lane(10.0, 52.0), "5 times as long"),
        (lane(0.1, 9.0), "longer"),
        (lane(10.0, None, never=4), "4 jobs would not start"),
        (lane(10.0, 10.0), SAME),
        (lane(10.0, 10.0 + 1e-9), SAME),  # the replay was exact
        (lane(10.0, 10.9), SAME),  # less than a tenth
        (lane(0.1, 0.5), SAME),  # less than half a second
        (lane(10.0, 13.0, real=14.0), SAME),  # the replay misses this lane by more
    ):
        assert (difference(line), line.noticeable) == (words, words != SAME)


def test_the_answer_is_a_sentence_that_names_whom_it_changes_most_and_says_if_nobody_loses():
    gains = lane(16.0, 13.0)
    first = "Ada & Co. in queue reports would wait 13 s instead of 16 s on average (19 % less)"
    assert answer(gains, lane(1.0, 1.0)) == f"{first}; no other tenant would wait noticeably longer."
    both = "; Bob in queue reports would wait 20 s instead of 10 s on average (100 % longer)."
    assert answer(gains, lane(10.0, 20.0, tenant=BOB)) == first + both
    many = answer(gains, lane(4.0, 2.0, tenant=BOB), gains, gains)
    assert many.startswith(
        f"{first}, Bob in queue reports 2.0 s instead of 4.0 s (50 % less), and 2 more lanes would wait less;"
    )
    stuck = "3 jobs of Ada & Co. in queue reports would not start; no tenant would wait noticeably less."
    assert answer(lane(4.0, None, never=3)) == stuck
    assert "a deleted tenant in queue" in answer(lane(16.0, 13.0, tenant=NONE))
    assert answer(lane(10.0, 10.0)) == "No tenant would wait noticeably less or longer."
    assert answer(gains, error=FAR) == "No answer: the replay of the real limits is more than 20 % off."
    assert answer(error=None) == "No attempt of this time can be replayed."


def test_the_picture_has_a_dot_for_each_wait_on_one_logarithmic_scale():
    rows = [
        {"replayed": {"mean": was}, "changed": {"mean": now}} for was, now in ((10.0, 1.0), (1.0, 10.0), (1.0, None))
    ]
    drawn = picture(rows)
    less, longer, never = (svg for _, svg in drawn.rows)
    assert 'class="was" cx="97.0%"' in less
    assert 'class="less" cx="50.0%"' in less
    assert 'class="longer" cx="97.0%"' in longer
    assert 'x2="100.0%"' in never
    assert 'class="longer" cx' not in never
    assert "10 s</text>" in drawn.scale
    assert picture([]).rows == []
