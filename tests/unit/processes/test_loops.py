"""The watch of event loops names the body that blocks one, whichever of the two threads sees the block first."""

import threading
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from jobs.models import BlockedLoop
from jobs.worker.light import loops
from jobs.worker.light.loops import LATE, Loops
from jobs.worker.light.processes import Blocked, HeldAttempt, RemoteProcess

GUILTY, OTHER = (7, 1), (8, 2)
BLOCKED = 2 * LATE  # seconds since the last round


class Clock:
    """The time, and the last round of each loop."""

    def __init__(self) -> None:
        self.now = self.round = 100.0

    def last(self, _: int) -> float:
        return self.round

    def go_round(self) -> None:
        self.round = self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(loops, "monotonic", lambda: clock.now)
    return clock


@pytest.fixture
def process() -> RemoteProcess:
    job = SimpleNamespace(timeout=300.0)
    return RemoteProcess(71, 0, wire=None, held={key: HeldAttempt(job, 100.0, 100.0) for key in (GUILTY, OTHER)})


@pytest.fixture
def written(clock, process, monkeypatch) -> Callable[[], list[BlockedLoop]]:
    """Let the watch look, and return the rows that it has written so far."""
    rows: list[BlockedLoop] = []
    watch = Loops("mail", clock, lambda: {process.pid: process}, threading.Event())
    monkeypatch.setattr(watch, "_writer", SimpleNamespace(submit=lambda _, row: row in rows or rows.append(row)))

    def look() -> list[BlockedLoop]:
        watch.look()
        return [*rows]

    return look


@pytest.mark.parametrize("told_first", [True, False])
def test_a_body_is_named_whoever_sees_first_that_it_blocks(clock, process, written, told_first):
    clock.now += BLOCKED
    if not told_first:
        assert written() == []
    process.blocked = Blocked(clock.round, GUILTY, "m.py:3 f")
    [row] = written()
    assert (row.job_id, row.attempt, row.place, row.seats, row.seconds) == (7, 1, "m.py:3 f", 2, None)
    clock.go_round()
    assert written() == [row]
    assert row.seconds == BLOCKED


def test_the_body_of_an_earlier_block_is_not_named_for_the_next(clock, process, written):
    process.blocked = Blocked(clock.round - 9, GUILTY, "m.py:3 f")  # of a block that this watch has not seen
    clock.now += BLOCKED
    assert written() == []
    process.blocked = Blocked(clock.round, OTHER, "m.py:9 g")
    [row] = written()
    assert row.job_id == 8
