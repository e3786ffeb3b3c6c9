"""A time slice ends by what its process did and waited for; what it waited for a core does not count."""

import time

import pytest

from jobs.allocation.order import SLICE
from jobs.engine.attempt import slices
from jobs.engine.attempt.slices import Slice


class Machine:
    """A process on it works, sleeps, or waits for a core; so many seconds pass."""

    def __init__(self) -> None:
        self.now, self.waited = 1000.0, 50.0

    def passes(self, seconds: float) -> None:
        self.now += seconds

    def is_full(self, seconds: float) -> None:
        self.now += seconds
        self.waited += seconds


@pytest.fixture
def machine(monkeypatch) -> Machine:
    machine = Machine()
    monkeypatch.setattr(time, "monotonic", lambda: machine.now)
    monkeypatch.setattr(slices, "SLICE", SLICE)
    monkeypatch.setattr(slices, "MAX_SLICE", 1.0)
    return machine


@pytest.fixture
def slice_(machine) -> Slice:
    return Slice(lambda: machine.waited)


def jobs_in(slice_: Slice, job) -> int:
    """How many jobs begin in it, the first one included."""
    for count in range(1, 10_000):
        job()
        if not slice_.has_room():
            return count
    raise AssertionError("it never ends")


def test_a_slice_lasts_a_tenth_of_a_second_where_cores_are_free(slice_, machine):
    assert jobs_in(slice_, lambda: machine.passes(0.001)) == 100


@pytest.mark.parametrize("seconds", [0.1, 0.07, 3.0])
def test_a_body_that_sleeps_or_waits_so_long_ends_it(slice_, machine, seconds):
    machine.passes(seconds)
    assert not slice_.has_room()


def test_at_least_half_of_the_next_job_must_lie_within_it(slice_, machine):
    machine.passes(0.066)
    assert slice_.has_room()


def test_a_wait_of_the_process_for_a_core_does_not_end_the_slice(slice_, machine):
    def job() -> None:
        machine.passes(0.001)
        machine.is_full(0.004)

    assert jobs_in(slice_, job) == 100


def test_a_slice_ends_after_a_second_however_full_the_machine_is(slice_, machine):
    def job() -> None:
        machine.passes(0.0001)
        machine.is_full(0.0499)

    assert jobs_in(slice_, job) == 20


def test_the_next_job_takes_as_long_as_the_last_one_not_as_all_before(slice_, machine):
    machine.passes(0.06)
    assert slice_.has_room()
    machine.passes(0.01)
    assert slice_.has_room()


def test_a_wait_before_the_slice_does_not_count(machine):
    machine.is_full(30)
    slice_ = Slice(lambda: machine.waited)
    machine.passes(0.2)
    assert not slice_.has_room()
