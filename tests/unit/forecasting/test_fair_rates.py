"""The fair rates of lanes."""

from math import inf, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.insight.forecasting.fair_rates import PHASES, Flow, courses, deviation

ONE = {1: 1.0}


def test_lanes_share_and_flow_faster_when_others_are_empty():
    first, second = courses(2.0, [Flow(1, 1, 10.0), Flow(2, 1, 100.0)], ONE, {}, 1000.0)
    assert first.reaches(10.0) == (pytest.approx(10.0), 1.0)
    late = second.reaches(100.0)[0]
    assert 55.0 <= late <= 55.0 + 1000.0 / PHASES  # 10 s at one process, then 45 s at two; a phase may be late
    assert second.reaches(10.0)[0] == pytest.approx(10.0)


def test_a_tenant_has_its_slots_once_in_all_its_lanes():
    flows = [Flow(1, 1, 1e6, slots=2), Flow(1, 2, 1e6, slots=2), Flow(2, 1, 1e6), Flow(3, 2, 1e6)]
    speeds = [course.speeds[0] for course in courses(16.0, flows, {1: 1.0, 2: 1.0}, {}, 10.0)]
    assert speeds[0] + speeds[1] == pytest.approx(2.0)
    assert sum(speeds) == pytest.approx(16.0)


def test_queues_share_by_weight_within_their_limits():
    flows = [Flow(1, 1, 1e6), Flow(2, 2, 1e6), Flow(3, 3, 1e6)]
    found = courses(12.0, flows, {1: 3.0, 2: 1.0, 3: 1.0}, {1: 4.0}, 10.0)
    assert [course.speeds[0] for course in found] == pytest.approx([4.0, 4.0, 4.0])


def test_urgent_arrivals_push_the_others_back():
    (course,) = courses(2.0, [Flow(1, 1, 1e6)], ONE, {}, 10.0)
    assert course.reaches(100.0)[0] == pytest.approx(50.0)
    assert course.reaches(100.0, urgent=1.0)[0] == pytest.approx(100.0)
    assert course.reaches(100.0, urgent=2.0) == (inf, 0.0)


def test_an_empty_lane_keeps_what_its_arrivals_need():
    busy, other = courses(4.0, [Flow(1, 1, 0.0, arriving=1.0), Flow(2, 1, 1e6)], ONE, {}, 10.0)
    assert busy.speeds[0] == pytest.approx(1.0)
    assert other.speeds[0] == pytest.approx(3.0)


def test_without_processes_nothing_flows():
    (course,) = courses(0.0, [Flow(1, 1, 5.0)], ONE, {}, 10.0)
    assert course.reaches(5.0)[0] == inf


def test_the_deviation_falls_with_the_speed_and_grows_with_the_root_of_the_jobs():
    assert deviation([3.0] * 8, 2.0) == pytest.approx(3.0 * sqrt(16) / 2)
    assert deviation([1.0], 0.0) == inf


FLOWS = st.lists(
    st.builds(
        Flow,
        st.integers(1, 4),
        st.integers(1, 3),
        st.floats(0, 1000),
        st.integers(1, 5).map(float),
        st.integers(0, 6).map(float),
        st.floats(0, 3),
    ),
    max_size=8,
    unique_by=lambda flow: (flow.tenant_id, flow.queue_id),
)


@given(capacity=st.floats(0, 30), flows=FLOWS)
def test_no_flow_is_above_its_slots_and_no_sum_above_the_capacity(capacity, flows):
    slots = {flow.tenant_id: flow.slots for flow in flows}
    flows = [Flow(f.tenant_id, f.queue_id, f.work, f.weight, slots[f.tenant_id], f.arriving) for f in flows]
    found = courses(capacity, flows, {1: 1.0, 2: 2.0, 3: 3.0}, {2: 2.0}, 100.0)
    for speeds in zip(*(course.speeds for course in found), strict=True):
        assert sum(speeds) <= capacity + 1e-6
        for tenant, most in slots.items():
            of_tenant = sum(speed for speed, flow in zip(speeds, flows, strict=True) if flow.tenant_id == tenant)
            assert of_tenant <= most + 1e-6
        of_queue = sum(speed for speed, flow in zip(speeds, flows, strict=True) if flow.queue_id == 2)
        assert of_queue <= 2.0 + 1e-6
