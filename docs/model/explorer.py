"""Explore all that can happen, breadth first: so the first fault that it meets has a shortest trace."""

import gc
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

S = TypeVar("S", bound=Hashable)


class Step(NamedTuple, Generic[S]):
    """A step: an actor, its action, and the state afterwards."""

    who: str
    what: str
    state: S


class Model(Protocol[S]):
    """A model of a system. Its states are immutable."""

    def start(self) -> S:
        """Return the first state."""

    def steps(self, state: S) -> Iterator[Step[S]]:
        """Return all steps that can happen next, each an atomic step of one actor."""

    def fault(self, state: S) -> str | None:
        """Return what is wrong in this state; None: nothing."""

    def key(self, state: S) -> Hashable:
        """Return a key that is equal for states with the same future: actors that are alike may change places."""

    def show(self, state: S) -> str:
        """Return the state in a few words, for a trace."""


@dataclass(frozen=True)
class Verdict:
    """The result of an exploration."""

    states: int
    depth: int  # the most steps that any state is away from the start
    fault: str | None = None
    trace: tuple[tuple[str, str, str], ...] = ()  # (who, what, the state afterwards)

    def __str__(self) -> str:
        if self.fault is None:
            return f"{self.states} states, depth {self.depth}: holds"
        width_who = max(len(step[0]) for step in self.trace)
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
    seen, keys = {first}, {model.key(first)}
    depth, last_of_depth = 0, 0
    number = 0
    while number < len(came_from):
        state = came_from[number][1].state
        fault = model.fault(state)
        if fault is not None:
            return Verdict(len(came_from), depth, fault, _trace(model, came_from, number))
        for step in model.steps(state):
            if step.state in seen:
                continue  # most steps lead to a state that another order of the same steps led to: no key is needed
            seen.add(step.state)
            key = model.key(step.state)
            if key not in keys:
                keys.add(key)
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
