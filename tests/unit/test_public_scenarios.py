"""The scenarios of the public benchmark, without running one: their parameters, and whose waits are told."""

from benchmarks.public.adapter import Counts
from benchmarks.public.driving import Pickup, quantile, waits
from benchmarks.public.scenarios import BURST, FLOOD, NEIGHBOUR, arrivals


def test_one_neighbour_submits_nine_in_ten_at_the_rate_that_is_said():
    made = list(arrivals(NEIGHBOUR))
    noisy = sum(one.tenant == 0 for one in made)
    assert abs(len(made) - 3000) <= 1
    assert 0.88 < noisy / len(made) < 0.92
    assert {one.tenant for one in made} == set(range(10))
    assert made == list(arrivals(NEIGHBOUR))
    work = sum(one.seconds for one in made) / len(made)
    assert 3.5 < NEIGHBOUR.workers / work / 10 < 5  # some 41 jobs a second are what ten workers can do


def test_without_a_noisy_one_all_submit_alike():
    counts = [0] * FLOOD.tenants
    for one in arrivals(FLOOD):
        counts[one.tenant] += 1
    assert abs(sum(counts) - 4500) <= 1
    assert max(counts) < 1.2 * min(counts)


def test_a_burst_is_ten_times_the_rate_for_five_seconds():
    made = [one.at for one in arrivals(BURST)]
    assert abs(sum(at < 5 for at in made) - 250) <= 1
    assert abs(sum(5 <= at < 10 for at in made) - 2500) <= 10  # the last step before it is a long one


def test_the_waits_of_the_quiet_tenants_are_told_beside_those_of_the_noisy_one():
    pickups = [Pickup(0, 30.0), Pickup(0, 40.0), Pickup(3, 0.1), Pickup(7, 0.3)]
    told = waits(pickups, noisy=True)
    assert (told["quiet, p95 ms"], told["noisy, p95 ms"]) == (300.0, 40_000.0)
    assert waits(pickups, noisy=False)["all, p50 ms"] == 300.0
    assert quantile([], 95) == float("inf")
    assert [quantile(list(range(1, 101)), percent) for percent in (50, 95, 99)] == [50, 95, 99]


def test_the_waits_that_are_told_are_those_of_the_last_half_minute(monkeypatch):
    counts = Counts()
    monkeypatch.setattr("benchmarks.public.adapter.time.time", lambda: 1000.0)
    counts.latencies.extend([(960.0, 9.0), (980.0, 0.1), (999.0, 0.2)])
    assert [counts.percentile(percent) for percent in (50, 95)] == [100.0, 200.0]
    assert Counts().percentile(95) == 0.0
