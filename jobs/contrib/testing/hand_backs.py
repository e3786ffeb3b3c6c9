"""A test lets a job give its slot back at a checkpoint, as when its worker stops."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from jobs.contrib.testing.assertions import calls, checked
from jobs.engine.process.host import AttemptHost
from jobs.engine.submitting.proxy import Call
from jobs.lifecycle import HandBack
from jobs.store import Started


@dataclass
class _Plan:
    call: Call[...]
    left: int  # checkpoints until it is asked
    job: Started | None = None


_plans: list[_Plan] = []


@contextmanager
def hand_back_next(call: Call[...], *, at: int = 1) -> Iterator[None]:
    """Let the next attempt of this call give its slot back at its checkpoint of that number, from 1.

    Raises AssertionError at the end of the block if no attempt made so many checkpoints.
    """
    plan = _Plan(checked(call), at)
    _plans.append(plan)
    try:
        yield
    finally:
        _plans.remove(plan)
    if plan.left > 0:
        name = f"{call.target.source_type} {call.target.method}"
        raise AssertionError(f"{name} should have made {at} checkpoints; it made {at - plan.left}")


class SeatOfTest(AttemptHost):
    """The seat of a test's process. It asks for a slot where the test has planned that."""

    _plan: _Plan | None = None

    def begin(self, job: Started) -> None:
        """Note the attempt that begins here: it is the one that a plan is for, if none was before."""
        self._plan = next((plan for plan in _plans if plan.job is None and calls(job, plan.call)), None)
        if self._plan is not None:
            self._plan.job = job

    def asked_back(self) -> HandBack | None:
        if self._plan is None:
            return None
        self._plan.left -= 1
        return HandBack.DRAIN if self._plan.left <= 0 else None
