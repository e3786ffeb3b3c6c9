"""The ends in hand of a feeder: how long they gather, and which of their seats the next job of the lane gets."""

from types import SimpleNamespace

import pytest

from jobs.store.trips import Success
from jobs.worker.light import ends
from jobs.worker.light.ends import LONGEST_WINDOW, Ends
from jobs.worker.light.processes import HeldAttempt, RemoteProcess

MANY = 100


@pytest.fixture
def clock(monkeypatch) -> SimpleNamespace:
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(ends, "monotonic", lambda: clock.now)
    monkeypatch.setattr(ends, "MAX_SLICE", 1.0)
    return clock


@pytest.fixture
def process() -> RemoteProcess:
    return RemoteProcess(7, 0, wire=None)


@pytest.fixture
def end(clock, process):
    """Let an attempt end that began `seconds` ago, in a slice that began `ago`: `end(hand, number, seconds, ago)`."""

    def end(hand: Ends, number: int, seconds: float = 0.01, ago: float | None = None) -> None:
        begun = clock.now - seconds
        since = begun if ago is None else clock.now - ago
        job = SimpleNamespace(id=number, attempt=1)
        hand.note(process, HeldAttempt(job, begun, since), Success(job, {}))

    return end


def going_on(taken) -> list[int]:
    return [one.key[0] for one in taken if one.success.goes_on]


def test_a_window_is_a_hundredth_of_the_latest_jobs_and_never_long(clock, end):
    hand = Ends()
    for number in range(MANY):
        end(hand, number, seconds=1.0)
    assert 0.009 < hand.gather_until() - clock.now <= 0.01
    for number in range(MANY):
        end(hand, number, seconds=3600.0)
    assert hand.gather_until() == clock.now + LONGEST_WINDOW


def test_a_window_begins_with_its_first_end_and_anew_with_those_that_a_trip_leaves(clock, end):
    hand = Ends()
    end(hand, 1, seconds=3600.0)
    until = hand.gather_until()
    clock.now += 0.01
    end(hand, 2, seconds=3600.0)
    assert hand.gather_until() == until
    clock.now += 1
    assert len(hand.take(1, go_on=True)) == 1
    assert hand.gather_until() == clock.now + LONGEST_WINDOW


def test_each_trip_gives_a_seat_to_others_that_of_the_oldest_slice_first(clock, end):
    hand = Ends()
    hand.take(MANY, go_on=True)
    for number, ago in ((1, 0.2), (2, 0.5), (3, 0.1)):
        end(hand, number, ago=ago)
    assert going_on(hand.take(MANY, go_on=True)) == [1, 3]


def test_within_a_slice_every_seat_comes_to_others(clock, end):
    """Of ten ends a trip gives as many as the part of a slice since the last trip, at most all."""
    hand = Ends()
    for passed, given in ((0.25, 3), (0.5, 5), (1.0, 10), (5.0, 10)):
        hand.take(MANY, go_on=True)
        clock.now += passed
        for number in range(10):
            end(hand, number)
        assert len(going_on(hand.take(MANY, go_on=True))) == 10 - given


@pytest.mark.parametrize(("seconds", "ago", "follows"), [(0.1, 0.9, True), (0.3, 0.9, False), (0.1, 1.1, False)])
def test_no_job_follows_that_would_end_beyond_the_slice_by_more_than_half(seconds, ago, follows, clock, end):
    hand = Ends()
    hand.take(MANY, go_on=True)
    end(hand, 1, ago=0.95)  # the oldest slice: it gives its seat
    end(hand, 2, seconds=seconds, ago=ago)
    assert (2 in going_on(hand.take(MANY, go_on=True))) == (follows and ago < 0.95)


@pytest.mark.parametrize("why", ["the worker drains", "the process leaves"])
def test_no_job_follows_where_none_may(why, clock, end, process):
    hand = Ends()
    hand.take(MANY, go_on=True)
    for number in range(3):
        end(hand, number)
    if why == "the process leaves":
        process.leave()
    assert going_on(hand.take(MANY, go_on=why != "the worker drains")) == []


def test_the_ends_of_a_trip_without_an_answer_come_first_and_are_not_followed(clock, end):
    hand = Ends()
    hand.take(MANY, go_on=True)
    for number in (1, 2):
        end(hand, number)
    lost = hand.take(MANY, go_on=True)
    assert going_on(lost)
    end(hand, 3)
    hand.put_back(lost)
    clock.now += 5
    again = hand.take(MANY, go_on=False)
    assert sorted(one.key[0] for one in again[:2]) == [1, 2]
    assert (len(again), going_on(again)) == (3, [])
