"""The explorer itself, on models small enough to be counted by hand."""

from collections.abc import Iterator

from docs.model.explorer import Step, explore


class Counters:
    """Two counters, each counts to three by ones; a fault where both are at `bad`."""

    def __init__(self, bad: int = 99, alike: bool = False) -> None:
        self.bad, self.alike = bad, alike

    def start(self) -> tuple[int, int]:
        return (0, 0)

    def steps(self, state: tuple[int, int]) -> Iterator[Step]:
        left, right = state
        if left < 3:
            yield Step("left", "counts", (left + 1, right))
        if right < 3:
            yield Step("right", "counts", (left, right + 1))

    def fault(self, state: tuple[int, int]) -> str | None:
        return f"both are at {self.bad}" if state == (self.bad, self.bad) else None

    def key(self, state: tuple[int, int]) -> tuple[int, ...]:
        return tuple(sorted(state)) if self.alike else state

    def show(self, state: tuple[int, int]) -> str:
        return f"{state[0]} and {state[1]}"


def test_every_state_is_visited_once():
    verdict = explore(Counters())
    assert (verdict.states, verdict.depth, verdict.fault) == (16, 6, None)
    assert str(verdict) == "16 states, depth 6: holds"


def test_actors_that_are_alike_may_change_places():
    assert explore(Counters(alike=True)).states == 10


def test_a_fault_is_reached_by_a_shortest_trace():
    verdict = explore(Counters(bad=2))
    assert verdict.fault == "both are at 2"
    assert verdict.depth == 4
    assert verdict.trace[0] == ("", "at first", "0 and 0")
    assert verdict.trace[-1][2] == "2 and 2"
    assert len(verdict.trace) == 5


def test_a_trace_says_who_did_what():
    lines = str(explore(Counters(bad=1))).splitlines()
    assert lines[0].endswith("FAULT: both are at 1")
    assert lines[2].split() == ["1", "left", "counts", "|", "1", "and", "0"]


def test_a_fault_at_first_needs_no_step():
    assert len(explore(Counters(bad=0)).trace) == 1
