"""A forecast costs a small part of the time that it tells of."""

from dataclasses import replace

import pytest

from jobs.insight.forecasting import queue_depth, simulation
from jobs.insight.forecasting.published_lines import DRAWS as DRAWS_OF_FEW
from jobs.insight.forecasting.queue_depth import DEEP, LEAST_STARTS, MOST_STARTS, PART, PRICE
from jobs.insight.forecasting.snapshot import ComingJob
from jobs.insight.forecasting.statements import Reason
from tests.unit.forecasting.test_published_lines import (
    HELD,
    QUEUE,
    TENANT,
    TYPE,
    Snapshot,
    lines,
    odds,
    snapshot,
    waits,
)

DRAWS = 5


def starts(taken: Snapshot, seconds: float) -> int:
    return queue_depth.starts(taken, odds(seconds).runs, DRAWS)


def of_a_line(jobs: int, **limits) -> Snapshot:
    """So many jobs, of which one was read, of a tenant with all four processes."""
    return snapshot(1, waiting={(7, 1): jobs}, tenants=[TENANT | {"num_slots": 4} | limits])


def of_lines(*waiting: int) -> Snapshot:
    return snapshot(waiting={(tenant, 1): jobs for tenant, jobs in enumerate(waiting)})


def test_lines_that_will_soon_be_empty_are_not_worth_more_than_a_few_starts():
    assert starts(of_a_line(10_000), 0.001) == LEAST_STARTS
    assert starts(of_a_line(1_000_000), 1.0) == MOST_STARTS


def test_all_draws_together_take_a_part_of_what_they_tell_of():
    most = starts(of_a_line(240), 1.0)
    assert most == pytest.approx(60.0 / PART / PRICE / DRAWS, abs=1)
    assert LEAST_STARTS < most < MOST_STARTS


@pytest.mark.parametrize("limits", [{"num_slots": 1}, {"rate_limit": 1, "rate_window": 1.0}], ids=str)
def test_limits_make_a_line_last(limits):
    assert starts(of_a_line(240), 1.0) < starts(of_a_line(240, **limits), 1.0)


def test_short_lines_leave_room_for_long_ones():
    assert queue_depth.standing(of_lines(10, 9_000, 9_000), 100) == min((DEEP * 100 - 10) // 2, 100)
    assert queue_depth.standing(of_lines(*[90] * 80), 100) == DEEP * 100 // 80
    assert queue_depth.standing(of_lines(*[10] * 80), 100) == 100  # no cut


def test_jobs_behind_the_simulated_ones_get_fair_rates_and_a_newcomer_gets_nothing(monkeypatch):
    whole = lines(snapshot(20))[7, 1, ""]
    assert [one.job is None for one in whole][-1:] == [True]
    monkeypatch.setattr(queue_depth, "standing", lambda *_: 5)
    cut = lines(snapshot(20))[7, 1, ""]
    assert [one.job.nth for one in cut] == [one.job.nth for one in whole[:-1]]
    assert cut[-1].raw_50 == pytest.approx(190.0, rel=0.1)
    assert cut[2].raw_50 == pytest.approx(20.0, abs=0.1)


def test_after_a_burst_no_draw_lets_millions_come_and_what_is_said_stays(monkeypatch):
    """Five thousand came in a second, all more urgent."""
    came, as_it_is = [], simulation.again

    def again(*of):
        for one in as_it_is(*of):
            came.append(one)
            yield one

    monkeypatch.setattr(simulation, "again", again)
    burst = [ComingJob(n / 5_000, 7, 1, 0, "", TYPE) for n in range(5_000)]
    taken = snapshot(1, in_line=[waits(1, 1, priority=9)], arrived=burst, window=1.0, holding=[HELD])
    [first, *_] = lines(taken, odds(0.1))[7, 1, ""]
    assert first.prediction.reason is Reason.URGENT_AHEAD
    assert 0 < len(came) <= DRAWS_OF_FEW * simulation.ARRIVALS * LEAST_STARTS


def test_a_line_in_another_queue_of_the_pool_counts():
    read = [waits(1, 1), replace(waits(2, 1), queue_id=2)]
    both, queues = {(7, 1): 120, (7, 2): 120}, [QUEUE, QUEUE | {"id": 2}]
    taken = snapshot(queues=queues, waiting=both, in_line=read, tenants=[TENANT | {"num_slots": 4}])
    assert starts(taken, 1.0) == starts(of_a_line(240), 1.0)
