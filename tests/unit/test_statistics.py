"""A percentile of a histogram lies in the bucket of the exact one."""

import math
from bisect import bisect_right

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.reading.statistics import BOUNDS, BUCKETS, added, percentile

SECONDS = st.lists(st.floats(0, 100_000), min_size=1, max_size=200)


def bucket(seconds: float) -> int:
    """As PostgreSQL's width_bucket."""
    return bisect_right(BOUNDS, seconds)


def histogram(times: list[float]) -> list[int]:
    counts = [0] * BUCKETS
    for seconds in times:
        counts[bucket(seconds)] += 1
    return counts


@given(SECONDS, st.sampled_from([0.01, 0.5, 0.9, 0.95, 1.0]))
def test_a_percentile_is_in_the_bucket_of_the_exact_one(times, share):
    exact = sorted(times)[math.ceil(len(times) * share) - 1]
    assert bucket(percentile(histogram(times), share)) == bucket(exact)


@given(SECONDS, SECONDS)
def test_histograms_add_up(first, second):
    assert added([histogram(first), histogram(second)]) == histogram(first + second)


@given(SECONDS)
def test_a_greater_share_has_no_smaller_percentile(times):
    counts = histogram(times)
    assert percentile(counts, 0.5) <= percentile(counts, 0.95) <= percentile(counts, 1.0)


def test_without_times_there_is_no_percentile():
    assert percentile(added([]), 0.5) is None


def test_the_last_bucket_says_its_beginning():
    assert percentile(histogram([1e9]), 0.5) == pytest.approx(BOUNDS[-1])


def test_the_buckets_reach_from_milliseconds_to_hours():
    assert (BUCKETS, BOUNDS[0], round(BOUNDS[-1] / 3600)) == (41, 0.005, 10)
