"""What is said of the places in a line, by simulating the claim's rules."""

from dataclasses import replace
from math import inf, log
from random import Random

import pytest

from jobs.allocation.gates import Gate
from jobs.allocation.world import IdleGaps
from jobs.insight.forecasting.calibration import BOUNDS, Factor
from jobs.insight.forecasting.far_estimates import FarEstimates
from jobs.insight.forecasting.published_lines import Foresight, PredictedPlace
from jobs.insight.forecasting.runs import collected
from jobs.insight.forecasting.simulation import Odds
from jobs.insight.forecasting.snapshot import ComingJob, Holding, InLine, Snapshot
from jobs.insight.forecasting.statements import Reason
from tests.unit.forecasting.test_replay import past

QUEUE = {"id": 1, "pool": "default", "head": 0, "circle_end": 0}
TENANT = {"id": 7, "num_slots": 1}
READY = {"state": "ready", "position": 1 << 20}
TYPE = "a.b"
LEARNED = {  # of all classes
    (f"{gate.value} {name}", q): Factor(0.0, 1000, q)
    for gate in Gate
    for _, name in (*BOUNDS, (inf, "more"))
    for q in (0.5, 0.9)
}


def place(number: int, priority: int = 5) -> int:
    return (priority << 58) + number


def waits(number: int, nth: int, tenant: int = 7, priority: int = 5, user: str = "") -> InLine:
    return InLine(number, tenant, 1, place(number, priority), nth, user, TYPE, -1.0)


def snapshot(jobs: int = 3, **changed) -> Snapshot:
    """A tenant with one slot and so many jobs in line, in a pool of four processes."""
    values = {
        "pools": {"default": 4},
        "queues": [QUEUE],
        "tenants": [TENANT],
        "lanes": {(7, 1): READY},
        "waiting": {(7, 1): jobs},
        "in_line": [waits(n, n) for n in range(1, jobs + 1)],
    }
    return Snapshot(**values | changed)


def odds(seconds: float = 10.0, spread: float = 0.0) -> Odds:
    runs = collected([past(0, 0.0, 0.0, seconds, tenant=7, job_type=TYPE)] * 40)
    return Odds(runs, Random(1), IdleGaps(between=0.0, handover=0.0), spread)


def lines(start: Snapshot, of: Odds | None = None, factors=LEARNED) -> dict:
    return Foresight(start, of or odds(), factors).lines()


def only(start: Snapshot, of: Odds | None = None) -> list[PredictedPlace]:
    (places,) = lines(start, of).values()
    assert not isinstance(places, Reason), places
    return places


def test_one_slot_serves_the_line_one_by_one_and_a_newcomer_at_its_end():
    places = only(snapshot(3))
    assert [place.raw_50 for place in places] == pytest.approx([0.0, 10.0, 20.0, 30.0], abs=0.1)
    assert [place.job and place.job.id for place in places] == [1, 2, 3, None]
    assert all(place.prediction.reason is None and place.prediction.p90 is not None for place in places)


def test_a_tenant_that_may_borrow_gets_what_nobody_else_could_use():
    """Its lane rests, with a job in its only slot."""
    holding = [Holding(7, 1, place(0), "", TYPE, -4.0, -4.0, leaves=False)]
    resting = READY | {"state": "closed", "opens_at": 2.5e11}
    start = snapshot(3, holding=holding, lanes={(7, 1): resting}, tenants=[TENANT | {"burst_slots": 3}])
    assert [place.raw_50 for place in only(start)] == pytest.approx([0.0, 0.0, 6.0, 10.0], abs=0.1)


@pytest.mark.parametrize(("held", "gate"), [((7, 1), Gate.LANE_HELD), ((0, 1), Gate.QUEUE_HELD)])
@pytest.mark.parametrize("jobs", [3, 300])
def test_no_job_of_a_held_line_is_promised_before_it_opens(held, gate, jobs):
    early = {key: Factor(log=-2.0, outcomes=99, held=0.99) for key in LEARNED}
    lane = READY | {"state": "held"} if held[0] else READY
    start = snapshot(jobs, holds={held: 60.0}, lanes={(7, 1): lane})
    (places,) = lines(start, factors=early).values()
    assert {place.gate for place in places} == {gate}
    assert places[0].raw_50 == pytest.approx(60, abs=0.1)
    assert min(place.raw_50 for place in places) >= 60
    said = [place.prediction for place in places]
    assert all((one.p50 or 60) >= 60 <= (one.not_before or 60) for one in said)


def test_the_jobs_in_slots_end_first():
    holding = [Holding(7, 1, place(0), "", TYPE, -4.0, -4.0, leaves=False)]
    places = only(snapshot(1, holding=holding))
    assert places[0].raw_50 == pytest.approx(6.0, abs=0.1)
    assert places[0].gate is Gate.SLOTS_FULL


def test_others_share_the_processes():
    others = [waits(n, n - 100, tenant=8) for n in range(101, 141)]
    tenants = [{"id": number, "num_slots": 4} for number in (7, 8)]
    alone = only(snapshot(8, tenants=tenants))
    known = {(7, 1): READY, (8, 1): READY | {"position": 2 << 20}}
    waiting = {(7, 1): 8, (8, 1): 40}
    both = lines(snapshot(tenants=tenants, lanes=known, waiting=waiting, in_line=[*snapshot(8).in_line, *others]))
    assert [place.raw_50 for place in both[7, 1, ""]][-2] == pytest.approx(
        2 * [place.raw_50 for place in alone][-2], abs=10.1
    )


def test_an_urgent_arrival_goes_first():
    arrivals = [ComingJob(float(n), 7, 1, 0, "", TYPE) for n in range(0, 300, 60)]  # each minute, for 10 s
    assert only(snapshot(9, arrived=arrivals))[4].raw_50 >= only(snapshot(9))[4].raw_50 + 9


def test_more_urgent_jobs_without_an_end_are_no_moment():
    arrivals = [ComingJob(float(n), 7, 1, 0, "", TYPE) for n in range(0, 300, 5)]  # twice what the slot can do
    places = only(snapshot(1, in_line=[waits(1, 1, priority=9)], arrived=arrivals, holding=[HELD]))
    said = [place.prediction for place in places if place.job]
    assert [place.reason for place in said] == [Reason.URGENT_AHEAD]
    assert said[0].p50 is None


HELD = Holding(7, 1, place(0), "", TYPE, -1.0, -1.0, leaves=False)


def test_a_job_on_a_worker_that_leaves_takes_no_process_of_the_others():
    two = [TENANT | {"num_slots": 2}]
    for leaves, gate, at in ((False, Gate.POOL_FULL, 9.0), (True, Gate.NEXT, 0.0)):
        [first, *_] = only(snapshot(1, pools={"default": 1}, tenants=two, holding=[replace(HELD, leaves=leaves)]))
        assert (first.gate, first.raw_50) == (gate, pytest.approx(at, abs=0.1))


def test_a_due_job_stands_in_line_then():
    due = [ComingJob(5.0, 7, 1, 0, "", TYPE, place=place(50, 0))]
    assert [place.raw_50 for place in only(snapshot(2, due=due))][1] == pytest.approx(20.0, abs=0.1)


def test_jobs_that_were_not_read_count_all_the_same():
    read = [waits(n, n) for n in (1, 2, 3, 10)]
    places = only(snapshot(10, in_line=read))
    assert [place.raw_50 for place in places if place.job] == pytest.approx([0.0, 10.0, 20.0, 90.0], abs=0.1)


def test_users_take_turns_and_have_lines_of_their_own():
    limited = {"id": 7, "num_slots": 4, "user_slots": 1}
    jobs = [waits(n, n, user="ada" if n < 4 else "bob") for n in range(1, 5)]
    places = lines(snapshot(4, tenants=[limited], in_line=jobs))
    assert [place.raw_50 for place in places[7, 1, "@ada"] if place.job] == pytest.approx([0.0, 10.0, 20.0], abs=0.1)
    assert [place.raw_50 for place in places[7, 1, "@bob"] if place.job] == pytest.approx([0.0], abs=0.1)


def test_draws_that_differ_make_p90_later_than_p50():
    places = only(snapshot(5), odds(spread=0.3))
    assert places[4].raw_90 > 1.1 * places[4].raw_50


def test_behind_a_long_line_the_fair_rates_tell():
    read = [waits(n, n) for n in range(1, 41)]
    start = snapshot(9000, tenants=[TENANT | {"num_slots": 4}], in_line=[*read, waits(7000, 7000)])
    places = [place for place in only(start, odds(1.0)) if place.job]
    assert places[-1].raw_50 == pytest.approx(7000 / 4, rel=0.1)
    assert places[-1].raw_90 > places[-1].raw_50


def test_there_too_all_limits_hold(subtests):
    """Four processes, and jobs of a tenth of a second. speed: starts a second."""
    rate = {"rate_limit": 2, "rate_window": 1.0, "full_at": 0.0}
    read = [waits(n, n, user="ab"[n % 2]) for n in (*range(1, 41), 19_000)]
    for tenant, queue, speed in (
        ({}, {}, 40.0),
        (rate, {}, 2.0),
        ({}, rate, 2.0),
        ({"user_slots": 1}, {}, 20.0),  # two users
        ({"user_slots": 3}, {}, 40.0),
        ({}, {"tenant_slots": 3}, 30.0),
        ({"queue_slots": {"mails": 1}}, {"name": "mails", "tenant_slots": 3}, 10.0),
    ):
        limited = {"tenants": [TENANT | {"num_slots": 4} | tenant], "queues": [QUEUE | queue]}
        start = snapshot(20_000, in_line=read, **limited)
        with subtests.test(tenant=tenant, queue=queue):
            _, middle, _ = FarEstimates(start, odds(0.1).runs, 0.0).quantiles(read[-1])
            assert middle == pytest.approx(19_000 / speed, rel=0.01)


def test_a_lane_that_a_person_must_open_says_why(subtests):
    for changed, reason in (
        ({"tenants": [TENANT | {"paused": True}]}, Reason.TENANT_PAUSED),
        ({"tenants": [TENANT | {"num_slots": 0}]}, Reason.NO_SLOTS),
        ({"tenants": [TENANT | {"num_slots": None}]}, Reason.NO_SLOTS),
        ({"queues": [QUEUE | {"paused": True}]}, Reason.QUEUE_PAUSED),
        ({"pools": {}}, Reason.NO_WORKER),
    ):
        with subtests.test(reason.value, **changed):
            assert lines(snapshot(2, **changed)) == {(7, 1, ""): reason}


def test_without_attempts_nothing_is_said():
    nothing = replace(odds(), runs=collected([]))
    assert lines(snapshot(2), nothing) == {(7, 1, ""): Reason.NO_HISTORY}


def test_a_class_without_outcomes_learns_first():
    (places,) = lines(snapshot(1), factors={}).values()
    assert {place.prediction.reason for place in places} == {Reason.LEARNING}


def test_the_factor_of_its_class_stretches_what_is_said():
    factors = LEARNED | {("next 30s", 0.9): Factor(log(3), 1000, 0.9)}
    (places,) = lines(snapshot(2), factors=factors).values()
    assert places[1].prediction.p90 == pytest.approx(3 * 10.2, abs=0.5)
    assert places[1].raw_90 == pytest.approx(10.0, abs=0.1)


def test_no_lane_is_placed_where_another_stands():
    """The database has placed lanes before a head: there the number is to the right of the head's."""
    head = 5 << 20
    known = {(7, 1): READY | {"position": head + 3}, (8, 1): READY | {"position": 6 << 20}}
    books = snapshot(queues=[QUEUE | {"head": head}], tenants=[TENANT, TENANT | {"id": 8}], lanes=known).books()
    placed = {books.place(head) for _ in range(5)} | {books.place() for _ in range(5)}
    assert not placed & {head + 3, 6 << 20}
