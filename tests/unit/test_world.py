"""Jobs arrive, get slots, start, follow and end, by the rules of the claim."""

import pytest

from jobs.allocation import order, passes
from jobs.allocation.books import Books
from jobs.allocation.passes import make_pass
from jobs.allocation.state import Queue, Tenant
from jobs.allocation.world import IdleGaps, SimulatedJob, World

NONE = IdleGaps(between=0.0, handover=0.0)


def books(processes: int = 4, slots: int = 1, **limits) -> Books:
    made = Books()
    made.add_queue(Queue(id=1, pool=made.pool("default", processes)))
    made.add_tenant(Tenant(id=7, num_slots=slots, **limits))
    return made


def job(place: int, seconds: float = 10.0, ready_at: float = 0.0, tenant: int = 7) -> SimulatedJob:
    return SimulatedJob(place=place, tenant=tenant, queue=1, ready_at=ready_at, seconds=seconds)


def run(world: World) -> list[tuple[int, float]]:
    """All that start, and when."""
    while world.step():
        pass
    return [(one.place, round(one.started_at, 3)) for one in world.started]


def test_jobs_run_one_by_one_in_a_slot_and_pause_between():
    world = World(books(), now=0.0, idle_gaps=IdleGaps(between=0.5, handover=0.25))
    for place in (2, 1, 3):
        world.arrive(job(place))
    assert run(world) == [(1, 0.25), (2, 11.0), (3, 21.75)]


def test_short_ones_follow_in_the_slot_without_a_pause_for_a_slice():
    world = World(books(), now=0.0, idle_gaps=IdleGaps(between=1.0, handover=0.0))
    for place in range(1, 5):
        world.arrive(job(place, seconds=0.04))
    assert run(world) == [(1, 0.0), (2, 0.04), (3, 0.08), (4, 1.12)]


def test_a_job_in_a_slot_keeps_it_until_its_end():
    world = World(books(), now=0.0, idle_gaps=NONE)
    world.hold(job(1), claimed_at=-5.0, started_at=-4.0, ends_at=6.0)
    world.arrive(job(2))
    assert run(world) == [(2, 6.0)]


def test_jobs_that_come_later_come_in_their_order_and_stop_coming():
    world = World(books(slots=2), now=0.0, idle_gaps=NONE, coming=[job(1, ready_at=3.0), job(2, ready_at=3.5)])
    assert run(world) == [(1, 3.0), (2, 3.5)]
    assert not world.step()


def test_a_rate_limit_lets_go_one_with_each_token():
    world = World(books(slots=9, rate_limit=1, rate_window=5.0), now=0.0, idle_gaps=NONE)
    for place in range(1, 4):
        world.arrive(job(place, seconds=0.2))
    assert run(world) == [(1, 0.0), (2, 5.0), (3, 10.0)]


def test_a_process_without_another_use_is_lent():
    lending = books(processes=2, slots=1, burst_slots=3)
    lending.add_tenant(Tenant(id=8, num_slots=1))
    world = World(lending, now=0.0, idle_gaps=NONE)
    for place in range(1, 5):
        world.arrive(job(place))
    world.arrive(job(9, tenant=8, ready_at=5.0))
    assert run(world) == [(1, 0.0), (2, 0.0), (9, 10.0), (3, 10.0), (4, 20.0)]


@pytest.mark.parametrize(("processes", "starts"), [(1, 10.0), (2, 4.0)])
def test_a_change_lets_go_what_it_allows(processes, starts):
    world = World(books(processes=1, slots=2), now=0.0, idle_gaps=NONE)
    world.arrive(job(1))
    world.arrive(job(2))
    world.change(4.0, lambda found: found.pool("default", processes))
    assert run(world) == [(1, 0.0), (2, starts)]


def test_a_light_pool_starts_all_that_its_seats_take_in_passes_of_a_hundred(monkeypatch):
    sizes = []
    monkeypatch.setattr(passes, "make_pass", lambda *args, **how: sizes.append(make_pass(*args, **how)) or sizes[-1])
    light = books(slots=1000)
    light.pool("default", 250, light=True)
    world = World(light, now=0.0, idle_gaps=IdleGaps(between=5.0, handover=5.0))
    for place in range(300):
        world.arrive(job(place))
    started = run(world)
    assert [place for place, _ in started] == list(range(300))
    assert [round(at) for _, at in started] == [0] * 250 + [10] * 50, "its seats have no pauses of a process"
    assert [len(found) for found in sizes if found][:3] == [100, 100, 50]


def test_a_clock_that_went_back_charges_nobody():
    assert order.worked_since(2, 2 * 5_000, order.in_ms(4.0)) == 0.0
    assert order.worked_since(2, 2 * 5_000, order.in_ms(6.0)) == 2.0
