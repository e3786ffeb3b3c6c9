"""Failures that a test plans: the next attempt of a job raises an error instead of running its body."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from jobs.contrib.testing.assertions import calls, checked
from jobs.engine.submitting.proxy import Call
from jobs.store import Started


@dataclass
class _Plan:
    call: Call[...]
    error: BaseException
    left: int


_plans: list[_Plan] = []


@contextmanager
def fail_next(call: Call[...], error: BaseException, *, times: int = 1) -> Iterator[None]:
    """Let the next attempts of this call fail with the error; the retry policy then decides as for any error.

    Raises AssertionError at the end of the block if fewer attempts were made.
    """
    plan = _Plan(checked(call), error, times)
    _plans.append(plan)
    try:
        yield
    finally:
        _plans.remove(plan)
    if plan.left:
        name = f"{call.target.source_type} {call.target.method}"
        raise AssertionError(f"{name} should have failed {times} times; {times - plan.left} attempts were made")


def planned(job: Started) -> BaseException | None:
    """Return the error that a test planned for this attempt; None if it planned none."""
    for plan in _plans:
        if plan.left and calls(job, plan.call):
            plan.left -= 1
            return plan.error
    return None
