"""A breadth-first explorer of all that can happen: the first fault it meets is reached by a shortest trace."""

import gc
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

S = TypeVar("S", bound=Hashable)


class Step(NamedTuple, Generic[S]):
    """Who did what, and what is so afterwards."""

    who: str
    what: str
    state: S


class Model(Protocol[S]):
    """What can happen. States are immutable."""

    def start(self) -> S:
        """The first state."""

    def steps(self, state: S) -> Iterator[Step[S]]:
        """All that can happen next, one atomic step of one actor each."""

    def fault(self, state: S) -> str | None:
        """What is wrong in this state."""

    def key(self, state: S) -> Hashable:
        """Two states with the same key have the same future: actors that are alike may change places."""

    def show(self, state: S) -> str:
        """The state in a few words, for a trace."""


@dataclass(frozen=True)
class Verdict:
    """What an exploration found. depth: the most steps that any state is away from the start."""

    states: int
    depth: int
    fault: str | None = None
    trace: tuple[tuple[str, str, str], ...] = ()  # (who, what, the state afterwards)

    def __str__(self) -> str:
        if self.fault is None:
            return f"{self.states} states, depth {self.depth}: holds"
        width_who = max(len(who) for who, _, _ in self.trace)
        width_what = max(len(what) for _, what, _ in self.trace)
        steps = [
            f"  {n:>2}  {who:<{width_who}}  {what:<{width_what}}  | {shown}"
            for n, (who, what, shown) in enumerate(self.trace)
        ]
        return "\n".join([f"{self.states} states, depth {self.depth}: FAULT: {self.fault}", *steps])


@contextmanager
def _no_cycles() -> Iterator[None]:
    """States are tuples, all of them are kept, and none refers to itself: to look for cycles costs a quarter more."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@_no_cycles()
def explore(model: Model[S]) -> Verdict:
    """Visit every state once, nearest first, until there are no more or one is faulty."""
    first = model.start()
    came_from: list[tuple[int, Step[S]]] = [(-1, Step("", "at first", first))]  # by number of the state
    seen = {model.key(first)}
    depth, last_of_depth = 0, 0
    number = 0
    while number < len(came_from):
        state = came_from[number][1].state
        fault = model.fault(state)
        if fault is not None:
            return Verdict(len(came_from), depth, fault, _trace(model, came_from, number))
        for step in model.steps(state):
            key = model.key(step.state)
            if key not in seen:
                seen.add(key)
                came_from.append((number, step))
        if number == last_of_depth and len(came_from) > number + 1:
            depth, last_of_depth = depth + 1, len(came_from) - 1
        number += 1
    return Verdict(len(came_from), depth)


def _trace(model: Model[S], came_from: list[tuple[int, Step[S]]], number: int) -> tuple[tuple[str, str, str], ...]:
    trace = []
    while number >= 0:
        number, step = came_from[number]
        trace.append((step.who, step.what, model.show(step.state)))
    return tuple(reversed(trace))
