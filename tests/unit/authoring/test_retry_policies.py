"""When a failed attempt is tried again: each policy's delays, and what holds for any of them."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jobs.authoring.retry import Retry
from plumbing.bounds import MAX_SECONDS

ERROR = ConnectionError("no route")
MANY = 10**6  # retries


def delays(policy: Retry, count: int) -> list[float | None]:
    return [policy.delay(ERROR, n) for n in range(count)]


def never(answer: object) -> Retry:
    """A policy of somebody's own that gives this answer."""
    return Retry.custom(lambda error, n: answer, max_retries=5)


class TestDelays:
    @pytest.mark.parametrize(
        ("policy", "seconds"),
        [
            (Retry.every(300, max_retries=4), [300, 300, 300, 300, None]),
            (Retry.every(0, max_retries=1), [0, None]),
            (Retry.every(7200, max_retries=1), [7200, None]),
            (Retry.exponential(max_retries=5), [10, 20, 40, 80, 160, None]),
            (Retry.exponential(max_retries=5, base=1, cap=5), [1, 2, 4, 5, 5, None]),
            (Retry.exponential(max_retries=2, base=60, cap=5), [5, 5, None]),
            (Retry.exponential(max_retries=2, base=0), [0, 0, None]),
            (Retry.polynomial(max_retries=6), [30, 31, 62, 273, 1054, 3155, None]),
            (Retry.polynomial(max_retries=4, cap=100), [30, 31, 62, 100, None]),
            (Retry.custom(lambda error, n: n + 0.5, max_retries=2), [0.5, 1.5, None]),
            (Retry.custom(lambda error, n: "exponential", max_retries=3, base=2), [2, 4, 8, None]),
            (Retry.custom(lambda error, n: 9999, max_retries=1), [3600, None]),
            (Retry.custom(lambda error, n: 3**n, max_retries=1, cap=7), [1, None]),
            (Retry.exponential(max_retries=0), [None]),
        ],
    )
    def test_the_delay_before_each_retry(self, policy, seconds):
        assert delays(policy, len(seconds)) == seconds

    def test_a_callable_decides_by_the_error_and_the_count(self):
        def decide(error, n):
            return n * 60 if isinstance(error, ConnectionError) else False

        policy = Retry.custom(decide, max_retries=5)
        assert policy.delay(ConnectionError(), 2) == 120
        assert policy.delay(ValueError(), 2) is None

    def test_a_job_may_bring_a_number_of_retries_of_its_own(self):
        policy = Retry.every(1, max_retries=2)
        assert [policy.delay(ERROR, n, max_retries=4) for n in range(5)] == [1, 1, 1, 1, None]
        assert policy.delay(ERROR, 0, max_retries=0) is None

    def test_when_the_retries_are_used_up_nobody_is_asked(self):
        policy = Retry.custom(lambda error, n: pytest.fail("asked"), max_retries=3)
        assert policy.delay(ERROR, 3) is None

    def test_full_jitter_draws_from_nothing_to_the_whole_delay(self):
        policy = Retry.every(100, max_retries=1, jitter=1)
        assert [policy.delay(ERROR, 0, draw=lambda part=part: part) for part in (0, 0.25, 1)] == [100, 75, 0]

    def test_jobs_that_failed_together_do_not_come_back_together(self):
        policy = Retry.exponential(max_retries=1, jitter=0.5)
        drawn = {policy.delay(ERROR, 0) for _ in range(100)}
        assert len(drawn) > 90
        assert all(5 <= seconds <= 10 for seconds in drawn)


class TestRefusals:
    @pytest.mark.parametrize("answer", [None, True, -1, -0.001, math.nan, math.inf, "linear", "", [10], {}])
    def test_a_bad_answer_of_a_callable_is_named(self, answer):
        with pytest.raises(ValueError, match=r'must return seconds, "exponential" or False, not '):
            never(answer).delay(ERROR, 0)

    @pytest.mark.parametrize("max_retries", [-1, 2.5, "3", None, True, math.nan])
    def test_a_bad_number_of_retries(self, max_retries):
        with pytest.raises(ValueError, match=r"^max_retries: must be"):
            Retry.exponential(max_retries=max_retries)

    @pytest.mark.parametrize("jitter", [-0.1, 1.1, math.nan, "0.5", None])
    def test_a_bad_jitter(self, jitter):
        with pytest.raises(ValueError, match=r"^jitter: must be"):
            Retry.polynomial(max_retries=1, jitter=jitter)

    @pytest.mark.parametrize("seconds", [-1, math.nan, math.inf, "10", None, True, 10**400])
    @pytest.mark.parametrize("name", ["base", "cap"])
    def test_a_bad_base_or_cap(self, name, seconds):
        with pytest.raises(ValueError, match=rf"^{name}: must be"):
            Retry.exponential(max_retries=1, **{name: seconds})

    def test_a_cap_beyond_a_year_whose_moment_the_database_might_not_hold(self):
        Retry.polynomial(max_retries=1, cap=MAX_SECONDS)
        with pytest.raises(ValueError, match=r"^cap: must be"):
            Retry.polynomial(max_retries=1, cap=MAX_SECONDS + 1)

    @pytest.mark.parametrize("seconds", [-1, math.nan, math.inf, "10", None, MAX_SECONDS + 1])
    def test_a_bad_interval(self, seconds):
        with pytest.raises(ValueError, match=r"^seconds: must be"):
            Retry.every(seconds, max_retries=1)

    @pytest.mark.parametrize("queue", ["", 7])
    def test_a_bad_queue(self, queue):
        with pytest.raises(ValueError, match=r"^queue: must be"):
            Retry.every(1, max_retries=1, queue=queue)

    @pytest.mark.parametrize("decide", [None, 30, "exponential"])
    def test_a_policy_that_cannot_be_called_is_refused(self, decide):
        with pytest.raises(ValueError, match=r"^decide: must be"):
            Retry.custom(decide, max_retries=1)


SECONDS = st.floats(0, MAX_SECONDS)
COUNTS = st.integers(0, MANY)
ANSWERS = st.one_of(st.just("exponential"), st.floats(0, 1e300), st.integers(0, 10**400))


@st.composite
def policies(draw, **fixed) -> Retry:
    said = {
        "max_retries": draw(st.integers(0, MANY)),
        "cap": draw(SECONDS),
        "jitter": draw(st.floats(0, 1)),
        **fixed,
    }
    kind = draw(st.sampled_from(["every", "exponential", "polynomial", "custom"]))
    if kind == "every":
        return Retry.every(said.pop("cap"), **said)
    if kind == "polynomial":
        return Retry.polynomial(**said)
    base = draw(st.floats(0, 1e300))
    if kind == "exponential":
        return Retry.exponential(base=base, **said)
    answer = draw(ANSWERS)
    return Retry.custom(lambda error, n: answer, base=base, **said)


class TestAnyPolicy:
    @given(policies(), COUNTS, st.floats(0, 1))
    def test_a_delay_is_never_below_nothing_nor_above_the_cap(self, policy, n, drawn):
        seconds = policy.delay(ERROR, n, draw=lambda: drawn)
        assert seconds is None or 0 <= seconds <= policy.cap

    @given(policies(), COUNTS, st.none() | st.integers(0, MANY))
    @example(Retry.exponential(max_retries=MANY), MANY - 1, None)
    @example(Retry.polynomial(max_retries=MANY), MANY, MANY + 1)
    def test_there_is_none_exactly_when_the_retries_are_used_up(self, policy, n, own):
        allowed = policy.max_retries if own is None else own
        assert (policy.delay(ERROR, n, own) is None) == (n >= allowed)

    @given(policies(jitter=0.0, max_retries=MANY + 1), COUNTS, st.floats(0, 1))
    def test_without_jitter_nothing_is_drawn(self, policy, n, drawn):
        assert policy.delay(ERROR, n, draw=lambda: drawn) == policy.delay(ERROR, n)

    @given(policies(max_retries=MANY + 1), COUNTS, st.floats(0, 1))
    def test_jitter_takes_at_most_its_part(self, policy, n, drawn):
        whole = policy.delay(ERROR, n, draw=lambda: 0.0)
        seconds = policy.delay(ERROR, n, draw=lambda: drawn)
        assert whole * (1 - policy.jitter) * (1 - 1e-9) <= seconds <= whole

    @given(st.floats(1e-3, 1e6), SECONDS, COUNTS)
    @example(1e-3, MAX_SECONDS, MANY)
    def test_an_exponential_delay_doubles_until_the_cap_and_stays_there(self, base, cap, n):
        policy = Retry.exponential(max_retries=MANY + 2, base=base, cap=cap)
        first, second = policy.delay(ERROR, n), policy.delay(ERROR, n + 1)
        assert second == min(2 * first, cap)
        assert first == (base * 2**n if n < 40 and base * 2**n < cap else cap)
