"""Test code that submits jobs: `from jobs.testing import drain, run, assert_submitted, freeze_time, fail_next`.

No worker, no broker and no waiting: the jobs run in the test's own process and, in a TestCase, in its transaction.
docs/testing.md is the guide.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jobs.testing.assertions import assert_not_submitted, assert_submitted, submitted
    from jobs.testing.attempt import Attempt
    from jobs.testing.cases import JobAssertions
    from jobs.testing.failures import fail_next
    from jobs.testing.running import drain, run
    from jobs.testing.time import FrozenTime, freeze_time

__all__ = [
    "Attempt",
    "FrozenTime",
    "JobAssertions",
    "assert_not_submitted",
    "assert_submitted",
    "drain",
    "fail_next",
    "freeze_time",
    "run",
    "submitted",
]

_HOMES = {
    "Attempt": "attempt",
    "FrozenTime": "time",
    "JobAssertions": "cases",
    "assert_not_submitted": "assertions",
    "assert_submitted": "assertions",
    "drain": "running",
    "fail_next": "failures",
    "freeze_time": "time",
    "run": "running",
    "submitted": "assertions",
}


def __getattr__(name: str) -> Any:
    """Load a public name at its first use: pytest imports the plugin before Django has set up its apps."""
    if name not in _HOMES:
        raise AttributeError(f"module 'jobs.testing' has no attribute {name!r}")
    return getattr(import_module(f"jobs.testing.{_HOMES[name]}"), name)
