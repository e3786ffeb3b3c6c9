"""Fair shares: weighted max-min, and how evenly tenants were served."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.allocation.shares import entitlement
from jobs.reading.shares import Work, entitled, jain, percent

WISHES = st.lists(st.tuples(st.floats(0, 1000), st.integers(1, 20)), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("capacity", "wishes", "shares"),
    [
        (4, [(1, 1), (9, 1)], [1, 3]),
        (4, [(9, 3), (9, 1)], [3, 1]),
        (10, [(2, 1), (2.6, 1), (4, 1), (5, 1)], [2, 2.6, 2.7, 2.7]),  # the example of Keshav's textbook, 1997
        (9, [(1, 1), (1, 5)], [1, 1]),
        (0, [(1, 1)], [0]),
        (3, [], []),
    ],
)
def test_a_tenant_that_asks_for_little_is_filled_first(capacity, wishes, shares):
    assert entitlement(capacity, wishes) == pytest.approx(shares)


@given(capacity=st.floats(0, 1000), wishes=WISHES)
def test_all_is_given_and_nobody_gets_more_than_its_demand(capacity, wishes):
    shares = entitlement(capacity, wishes)
    assert sum(shares) == pytest.approx(min(capacity, sum(demand for demand, _ in wishes)), abs=1e-6)
    assert all(0 <= share <= demand + 1e-9 for share, (demand, _) in zip(shares, wishes, strict=True))


@given(capacity=st.floats(0, 1000), wishes=WISHES)
def test_no_tenant_could_get_more_except_from_one_with_less_by_its_weight(capacity, wishes):
    shares = entitlement(capacity, wishes)
    unfilled = [share / weight for share, (demand, weight) in zip(shares, wishes, strict=True) if share < demand - 1e-6]
    if unfilled:
        assert max(unfilled) == pytest.approx(min(unfilled), abs=1e-6)
        levels = [share / weight for share, (_, weight) in zip(shares, wishes, strict=True)]
        assert max(levels) <= max(unfilled) + 1e-6


class TestEntitled:
    def test_queues_share_by_their_weights_before_their_tenants_do(self):
        work = [Work(1, 1, 100, 1), Work(2, 2, 100, 1), Work(3, 2, 100, 1)]
        assert entitled(8, work, {1: 3, 2: 1}) == pytest.approx({1: 6, 2: 1, 3: 1})

    def test_a_tenant_adds_up_its_queues(self):
        assert entitled(8, [Work(1, 1, 2, 1), Work(1, 2, 3, 1)], {1: 1, 2: 1}) == pytest.approx({1: 5})

    def test_the_share_that_a_queue_may_not_use_goes_to_the_others(self):
        work = [Work(1, 1, 100, 1), Work(2, 2, 100, 1)]
        assert entitled(8, work, {1: 1, 2: 1}, {1: 2, 2: inf}) == pytest.approx({1: 2, 2: 6})

    def test_a_tenant_that_wants_nothing_is_entitled_to_nothing(self):
        assert entitled(8, [Work(1, 1, 0, 1)], {1: 1}) == {}


@pytest.mark.parametrize(
    ("values", "index"), [([1.0, 1.0, 1.0], 1.0), ([1.0, 0.0, 0.0, 0.0], 0.25), ([], None), ([0.0], None)]
)
def test_jains_index(values, index):
    assert jain(values) == index


@pytest.mark.parametrize(("part", "whole", "told"), [(41.2, 100, "41 %"), (112, 100, "112 %"), (1, 0, "–")])
def test_percent(part, whole, told):
    assert percent(part, whole) == told
